/**
 * Times a hit through both machines, without a driver: request, piece asked for, found in the store, answered, relayed,
 * finished, slot free again. Also prints what a hit allocates, which should be next to nothing. `node hit-path.bench.ts
 * [HITS]`.
 *
 * Each hit is of a random block of many objects, so the store's index and the metadata are cold as in real life; `hot` is the
 * same over one object, and `lent` once that is lent to other nodes and every answer says so. The result hash follows from the slots that were sent: equal code, equal hash.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { mix32, type Hash128 } from '../base/hash.ts';
import { Prng } from '../base/prng.ts';
import { firstHeader } from '../journal/table-header.ts';
import { Layout } from '../layout.ts';
import type { IdentityDigest, NodeEffects } from '../node/effects.ts';
import { defaultNodeLimits } from '../node/limits.ts';
import { Node } from '../node/node.ts';
import { ownerOf, placeHome } from '../placement.ts';
import type { NodeMessage } from '../node-message.ts';
import {
  copyHotHint,
  newReadAnswer,
  type HotHint,
  type ReadAnswer,
  type ReadRequest,
} from '../read.ts';
import { Ring } from '../ring.ts';
import { noPreconditions } from '../s3/preconditions.ts';
import { Store, type SlotId } from '../store/store.ts';
import { objectHash } from '../testing/identity.ts';
import { newClientRequest, type ClientRequest } from './client-request.ts';
import type { GatewayEffects, ReadId } from './effects.ts';
import { Gateway } from './gateway.ts';
import { defaultGatewayLimits } from './limits.ts';
import { defaultWriteSlots, WriteEpochs } from './write-epochs.ts';

const blockBytes = 4096;
const blocksEach = 16;
const rangeBytes = 100;

export interface HitFigures {
  /** Nanoseconds of CPU a hit, over all objects, over one, and over one that is lent. */
  readonly random: number;
  readonly hot: number;
  readonly lent: number;
  /** Bytes that a hit allocates. */
  readonly allocated: number;
  readonly resultHash: number;
}

/** Stands in for SHA-256, whose time is the driver's: it allocates nothing either. */
const digest: IdentityDigest = {
  originChanges: 0,
  version: (_bucket, hash, etag, into) => {
    into.h0 = mix32(hash.h0 ^ etag.length) >>> 0;
    into.h1 = mix32(hash.h1 ^ into.h0) >>> 0;
    into.h2 = mix32(hash.h2 ^ into.h1) >>> 0;
    into.h3 = mix32(hash.h3 ^ into.h2) >>> 0;
  },
  objectHashMatches: () => true,
};

/** Effects that remember what the next event needs, and nothing else. */
class Wire implements GatewayEffects, NodeEffects {
  read: ReadId = -1;
  request: ReadRequest | null = null;
  slot: SlotId = -1;
  length = 0;
  finished = 0;
  #hint: HotHint | null = null;
  /** Hits whose answer carried a hint. */
  hinted = 0;
  /** Leases that the node sent, as it hears them accepted. */
  readonly accepted: NodeMessage[] = [];
  relayed = 0;

  sendRead(read: ReadId, _nodeId: number, request: ReadRequest): void {
    this.read = read;
    this.request = request;
  }
  relayBody(): void {
    this.relayed += 1;
  }
  finish(): void {
    this.finished += 1;
  }
  answerFromSlot(_asker: number, slot: SlotId, _offset: number, length: number): void {
    this.slot = slot;
    this.length = length;
  }
  answerHead(): void {
    this.length = 0;
  }
  cancelRead(): void {
    unexpected();
  }
  awaitTaken(): void {
    unexpected();
  }
  abort(): void {
    unexpected();
  }
  answerError(): void {
    unexpected();
  }
  answerOriginError(): void {
    unexpected();
  }
  passThrough(): void {
    unexpected();
  }
  answerMetadata(): void {
    unexpected();
  }
  answerMetadataFromSlot(): void {
    unexpected();
  }
  answerMetadataFromMemory(): void {
    unexpected();
  }
  beginAnswer(): void {
    unexpected();
  }
  continueFromMemory(): void {
    unexpected();
  }
  abortAnswer(): void {
    unexpected();
  }
  answerFailure(): void {
    unexpected();
  }
  startFetch(): void {
    unexpected();
  }
  hintHot(_asker: number, hint: HotHint): void {
    this.#hint = hint;
    this.hinted += 1;
  }
  forgetHint(): void {
    this.#hint = null;
  }
  hintTo(answer: ReadAnswer): void {
    if (this.#hint === null) answer.hot.remainingMs = 0;
    else copyHotHint(this.#hint, answer.hot);
  }
  sendToNode(nodeId: number, message: NodeMessage): void {
    this.accepted.push({ ...structuredClone(message), kind: 'accepted', from: nodeId });
  }
  startPeerFetch(): void {
    unexpected();
  }
  receiveInto(): void {
    unexpected();
  }
  receiveDirect(): void {
    unexpected();
  }
  cancelFetch(): void {
    unexpected();
  }
  writeSlot(): void {
    unexpected();
  }
  syncSlab(): void {
    unexpected();
  }
  writeRecord(): void {
    unexpected();
  }
  syncTable(): void {
    unexpected();
  }
  verifySlot(): void {
    unexpected();
  }
  logMetadata(): void {
    unexpected();
  }
  logForgotten(): void {
    unexpected();
  }
  compactMetadataLog(): void {
    unexpected();
  }
}

function unexpected(): never {
  throw new Error('a hit takes no other way');
}

class HitPath {
  readonly #wire = new Wire();
  readonly #gateway: Gateway;
  readonly #node: Node;
  readonly #store: Store;
  readonly #requests: ClientRequest[] = [];
  readonly #answer = newReadAnswer();
  #exchange = 0;
  resultHash = 0;

  constructor(objects: number) {
    const sizes = {
      blockBytes,
      chunkBytes: 4 * blockBytes,
      tailBytes: 4 * blockBytes,
      wholeBytes: 8 * blockBytes,
    };
    const layout = new Layout(sizes);
    const seed = { hi: 1, lo: 2 };
    const ring = new Ring(
      1,
      [0, 1, 2].map((nodeId) => ({ nodeId, weight: 1, address: '' })),
    );
    const home = { hi: 0, lo: 0 };
    placeHome(objectHash('b', 'object-0'), home);
    const capacityBytes = Math.max(objects, 16) * blocksEach * blockBytes * 2;
    this.#store = new Store({ capacityBytes, blockBytes, seed });
    this.#gateway = new Gateway({
      effects: this.#wire,
      layout,
      ring,
      limits: { ...defaultGatewayLimits, metadataEntries: objects },
      epochs: new WriteEpochs(new Uint32Array(new SharedArrayBuffer(4 * defaultWriteSlots)), 3),
      seed: 3,
    });
    this.#node = new Node({
      effects: this.#wire,
      digest,
      store: this.#store,
      table: firstHeader({ h0: 1, h1: 2, h2: 3, h3: 4 }, this.#store),
      layout,
      ring,
      nodeId: ownerOf(ring, home),
      policyOf: () => ({ immutable: true, ttlMs: 0, admitOnFirstRead: false }),
      limits: defaultNodeLimits,
      seed,
    });
    for (let i = 0; i < objects; i++) this.#requests.push(this.#addObject(`object-${i}`));
  }

  /** A ranged read of one block of one object, all the way. */
  hit(now: number, object: number, block: number): void {
    const wire = this.#wire;
    const request = this.#requests[object]!;
    request.range.first = block * blockBytes + 7;
    request.range.last = request.range.first + rangeBytes - 1;
    this.#exchange = (this.#exchange + 1) & 0xfffff;
    this.#gateway.onRequest(now, this.#exchange, request);
    wire.forgetHint();
    this.#node.onRead(now, this.#exchange, wire.request!);
    this.#answer.kind = 'bytes';
    this.#answer.bodyFirst = wire.request!.first;
    this.#answer.bodyLength = wire.length;
    wire.hintTo(this.#answer);
    this.#gateway.onAnswer(now, wire.read, this.#answer);
    this.#gateway.onBodyQueued(now, this.#exchange, wire.read);
    this.#node.onSlotSent(now, wire.slot);
    this.resultHash = mix32(this.resultHash ^ wire.slot);
  }

  /** The nodes that a hot object was lent to accept. */
  accept(now: number): void {
    for (const message of this.#wire.accepted) this.#node.onMessage(now, message);
  }

  get hinted(): number {
    return this.#wire.hinted;
  }

  get finished(): number {
    return this.#wire.finished;
  }

  /** Puts all blocks of an object into the store, and its metadata into the gateway. */
  #addObject(key: string): ClientRequest {
    const request = newClientRequest();
    request.bucket = 'b';
    request.key = key;
    request.conditions = noPreconditions;
    Object.assign(request.hash, objectHash('b', key));
    const version: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
    digest.version('b', request.hash, `"${key}"`, version);
    for (let block = 0; block < blocksEach; block++) {
      const slot = this.#store.reserve(
        version,
        block,
        request.hash.h0,
        request.hash.h1,
        blockBytes,
      );
      this.#store.publish(slot);
    }
    request.head = true;
    this.#gateway.onRequest(0, 0, request);
    this.#gateway.onAnswer(0, this.#wire.read, {
      ...this.#answer,
      kind: 'metadata',
      lifetimeMs: Infinity,
      metadata: {
        etag: `"${key}"`,
        size: blocksEach * blockBytes,
        lastModified: 1,
        headerLines: new Uint8Array(100),
        knowsChecksums: true,
        version,
      },
    });
    request.head = false;
    request.range.kind = 'bounded';
    return request;
  }
}

/** Runs `hits` hits over `objects` objects, and as many over one. */
export function measureHits(hits: number, objects: number): HitFigures {
  const path = new HitPath(objects);
  const order = new Int32Array(hits);
  const prng = new Prng(3, 4);
  for (let i = 0; i < hits; i++) order[i] = prng.below(objects * blocksEach);
  const run = (mask: number): number => {
    let now = 1;
    const start = process.cpuUsage();
    for (let i = 0; i < hits; i++) {
      const at = order[i]! & mask;
      // A driver reads the clock once a batch; a time of its own for each hit would be a number on the heap.
      if (i % 64 === 0) now += 0.3;
      path.hit(now, Math.floor(at / blocksEach), at % blocksEach);
    }
    const { user, system } = process.cpuUsage(start);
    return ((user + system) * 1000) / hits;
  };
  run(-1);
  const random = run(-1);
  const hot = run(blocksEach - 1);
  path.accept(1);
  run(blocksEach - 1);
  const lent = run(blocksEach - 1);
  if (path.hinted === 0) throw new Error('what is read that much is lent');
  const allocated = allocatedBy(() => run(-1)) / hits;
  if (path.finished < 4 * hits) throw new Error('every hit ends');
  return { random, hot, lent, allocated, resultHash: path.resultHash >>> 0 };
}

/** Bytes by which the heap grew; right as long as no collection comes in between. */
function allocatedBy(work: () => void): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const before = process.memoryUsage().heapUsed;
  work();
  return process.memoryUsage().heapUsed - before;
}

if (import.meta.main) {
  const hits = Number(process.argv[2] ?? 300_000);
  const { random, hot, lent, allocated, resultHash } = measureHits(hits, 20_000);
  const [all, one, shared] = [random, hot, lent].map(Math.round);
  console.log(`${hits} hits: ${all} ns random, ${one} ns hot, ${shared} ns hot and lent`);
  console.log(`${allocated.toFixed(2)} bytes allocated a hit`);
  console.log(`result hash ${resultHash}`);
}
