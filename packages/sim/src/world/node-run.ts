/**
 * One life of a storage node's process: the core's node machine with its store and its memory, and a driver that carries out
 * its effects over the models. Ends by a crash or a clean stop; the host's disk outlives it.
 *
 * Keeps to the effects' rules and checks that the machine does: every asker is answered once, no more bytes than promised,
 * slots read some time after they were named, so that one reused while pinned shows.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import type { Verdict } from '@s3-accelerator/core/journal/effects.ts';
import {
  encodeForgotten,
  encodeLogHeader,
  encodePut,
  FORGOTTEN_BYTES,
  putBytes,
} from '@s3-accelerator/core/journal/metadata-log.ts';
import type { TableHeader } from '@s3-accelerator/core/journal/table-header.ts';
import type { Layout } from '@s3-accelerator/core/layout.ts';
import type {
  Asker,
  FetchEnd,
  FetchHead,
  FetchId,
  FetchRequest,
  NodeEffects,
} from '@s3-accelerator/core/node/effects.ts';
import type { NodeLimits } from '@s3-accelerator/core/node/limits.ts';
import { Node } from '@s3-accelerator/core/node/node.ts';
import type { PolicyOf } from '@s3-accelerator/core/node/policy.ts';
import { candidates, placeBlock } from '@s3-accelerator/core/placement.ts';
import {
  newReadAnswer,
  type ObjectMetadata,
  type OriginError,
  type ReadFailure,
} from '@s3-accelerator/core/read.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import { newBlockPlace } from '@s3-accelerator/core/store/block-place.ts';
import { Store, type SlotId } from '@s3-accelerator/core/store/store.ts';
import type { Admission } from '../history/block-event.ts';
import type { NodeRead } from '../history/node-read.ts';
import { nameOf } from '../oracle/oracle.ts';
import { traced } from '../trace.ts';
import { nodeEffectNames } from './effect-names.ts';
import { nodeState } from './process-states.ts';
import type { ProcessState } from '../history/views.ts';
import type { NodeFiles } from './node-files.ts';
import { OriginFetches, type FetchEvents } from './origin-fetches.ts';
import { requestOfError } from './origin.ts';
import type { Link, LinkEnd } from './network.ts';
import type { Pass } from './pass.ts';
import type { ProcessClock } from './process-clock.ts';
import type { ReadTaker, ReadTransfer } from './read-transfer.ts';
import { SlotFiles, type SlotEvents } from './slot-files.ts';
import type { Surroundings } from './surroundings.ts';
import { Ticker } from './ticker.ts';

export interface NodeRunOptions {
  readonly world: Surroundings;
  readonly clock: ProcessClock;
  readonly files: NodeFiles;
  readonly layout: Layout;
  readonly ring: Ring;
  readonly limits: NodeLimits;
  readonly policyOf: PolicyOf;
  readonly storeBytes: number;
  readonly doorkeeperWindowMs: number;
  readonly nodeId: number;
  readonly life: number;
  readonly place: number;
  /** Errno of the next write or read of the disk, 0 for good. */
  readonly writeErrno: () => number;
  readonly readErrno: () => number;
}

/** A read that waits for its answer. */
interface Waiting {
  readonly transfer: ReadTransfer;
  readonly record: NodeRead;
}

export class NodeRun implements NodeEffects, LinkEnd, ReadTaker, FetchEvents, SlotEvents {
  readonly place: number;
  readonly node: Node;
  readonly store: Store;
  readonly fetches: OriginFetches;
  /** Clients' requests that pass through here. */
  readonly passes = new Set<Pass>();
  isOver = false;
  /** Called once everything stored is durable, after `shutDown`. */
  onFlushed: (() => void) | null = null;
  readonly #options: NodeRunOptions;
  readonly #memory: Uint8Array;
  readonly #header: TableHeader;
  readonly #slots: SlotFiles;
  readonly #ticker: Ticker;
  readonly #waiting = new Map<Asker, Waiting>();
  #askers = 0;
  /** How often a pool was found full, when that was last noted, and then. */
  #exhausted = 0;
  #exhaustedAt = -1;

  constructor(options: NodeRunOptions) {
    const { world, layout, limits, nodeId, life, doorkeeperWindowMs } = options;
    const { queue, trace, identities, history } = world;
    const seed = { hi: world.seed + nodeId, lo: life };
    this.#options = options;
    this.place = options.place;
    this.store = new Store({
      capacityBytes: options.storeBytes,
      blockBytes: layout.blockBytes,
      seed,
      doorkeeperWindowMs,
    });
    this.#header = options.files.begin(this.store);
    this.#memory = new Uint8Array(limits.fillBudgetBytes);
    this.#slots = new SlotFiles({
      world,
      files: options.files,
      store: this.store,
      header: this.#header,
      memory: this.#memory,
      events: this,
      nodeId,
      life,
      writeErrno: options.writeErrno,
      readErrno: options.readErrno,
    });
    this.fetches = new OriginFetches({
      queue,
      prng: world.originPrng,
      origin: world.origin,
      history,
      checkers: world.checkers,
      events: this,
      memory: this.#memory,
      node: nodeId,
      life,
    });
    this.node = new Node({
      effects: traced<NodeEffects>(this, nodeEffectNames, trace, `node ${nodeId}`, queue),
      digest: identities,
      store: this.store,
      table: this.#header,
      layout,
      ring: options.ring,
      nodeId,
      policyOf: options.policyOf,
      limits,
      seed,
    });
    options.files.readLog(this.#header, this.node.metadataLog);
    this.#ticker = new Ticker(queue, options.clock, this.node, () => world.timerLatenessMs());
    this.#ticker.afterEvent();
  }

  get nodeId(): number {
    return this.#options.nodeId;
  }

  get life(): number {
    return this.#options.life;
  }

  /** Reads whose answer isn't complete. */
  get askers(): number {
    return this.#waiting.size;
  }

  // What comes over links.

  /** A read arrives. */
  take(transfer: ReadTransfer): void {
    const { kind, bucket, key, etag, first, last, partLast } = transfer.request;
    this.#askers += 1;
    transfer.asker = this.#askers;
    const record = this.#options.world.history.nodeAsked({
      node: this.nodeId,
      life: this.life,
      kind,
      bucket,
      key,
      etag,
      first,
      last,
      partLast,
      arrivedAt: this.#now,
    });
    this.#waiting.set(transfer.asker, { transfer, record });
    this.node.onRead(this.#clock, transfer.asker, transfer.request);
    this.#afterEvent();
  }

  /** The gateway doesn't wait any more. */
  cancel(transfer: ReadTransfer): void {
    if (this.isOver || !this.#waiting.has(transfer.asker)) return;
    this.#answered(transfer.asker, 'cancelled');
    this.node.onReadCancelled(this.#clock, transfer.asker);
    this.#afterEvent();
  }

  onLinkLost(link: Link): void {
    if (this.isOver) return;
    for (const { transfer } of [...this.#waiting.values()]) {
      if (transfer.link === link) this.cancel(transfer);
    }
    for (const pass of [...this.passes]) if (pass.link === link) pass.lostAtNode();
  }

  /** A write of the object passes through here: before it goes to S3, and before its outcome is known. */
  noteWrite(bucket: string, key: string, phase: 'started' | 'finished'): void {
    const hash = { ...this.#options.world.identities.hashOf(bucket, key) };
    this.node.onWrite(this.#clock, hash, phase);
    this.#afterEvent();
  }

  /** Stores nothing more; `onFlushed` once all that is stored is durable. */
  shutDown(onFlushed: () => void): void {
    this.onFlushed = onFlushed;
    this.node.onShutdown(this.#clock);
    this.#afterEvent();
  }

  /** Marks this run as one that ended clean, and ends. */
  endClean(): void {
    this.end();
    this.#options.files.endClean(this.#header);
  }

  /** The slab was found shorter than it should be. */
  slabTruncated(slabBytes: number): void {
    this.node.onSlabTruncated(this.#clock, slabBytes);
    this.#afterEvent();
  }

  /** What a crash right now would leave of this run's slots. */
  checkDurable(): void {
    const { checkers } = this.#options.world;
    for (let slot = 1; slot < this.store.end; slot++) {
      const record = this.#slots.durableRecord(slot);
      if (record !== null) checkers.recordSeen(record);
    }
  }

  /** Every block that would be served as it is. */
  checkStored(): void {
    const { checkers } = this.#options.world;
    for (const block of this.#slots.storedBlocks()) checkers.blockSeen(block);
  }

  state(): ProcessState {
    return nodeState(this, this.#options.limits);
  }

  /** The process ends, whatever it was doing. */
  end(): void {
    assert(!this.isOver, 'a process ends once');
    this.isOver = true;
    this.#ticker.stop();
    this.fetches.stop();
    for (const asker of [...this.#waiting.keys()]) this.#answered(asker, 'aborted');
    for (const pass of [...this.passes]) pass.nodeEnded();
    this.#options.world.network.endAll(this);
  }

  // What comes from S3.

  onFetchHead(fetch: FetchId, head: FetchHead): void {
    this.node.onFetchHead(this.#clock, fetch, head);
    this.#afterEvent();
  }

  onFetchBytes(fetch: FetchId, count: number): void {
    this.node.onFetchBytes(this.#clock, fetch, count);
    this.#afterEvent();
  }

  onFetchEnd(fetch: FetchId, end: FetchEnd): void {
    this.node.onFetchEnd(this.#clock, fetch, end);
    this.#afterEvent();
  }

  onFetchFailed(fetch: FetchId, error: OriginError | null): void {
    this.node.onFetchFailed(this.#clock, fetch, error);
    this.#afterEvent();
  }

  onDirectBytes(asker: Asker, bytes: Uint8Array): void {
    this.#send(asker, bytes);
  }

  // What comes from the disk.

  onSlotWritten(slot: SlotId, errno: number, checksum: number): void {
    this.node.onSlotWritten(this.#clock, slot, errno, checksum);
    this.#afterEvent();
  }

  onSlabSynced(errno: number): void {
    this.node.onSlabSynced(this.#clock, errno);
    this.#afterEvent();
  }

  onTableSynced(errno: number): void {
    this.node.onTableSynced(this.#clock, errno);
    this.#afterEvent();
  }

  onSlotVerified(slot: SlotId, verdict: Verdict, checksum: number): void {
    this.node.onSlotVerified(this.#clock, slot, verdict, checksum);
    this.#afterEvent();
  }

  // Effects.

  answerMetadata(asker: Asker, metadata: ObjectMetadata, ageMs: number, lifetimeMs: number): void {
    this.#answerMetadata(asker, metadata, ageMs, lifetimeMs, 0, 0);
    this.#answered(asker, 'served');
  }

  answerMetadataFromSlot(
    asker: Asker,
    metadata: ObjectMetadata,
    ageMs: number,
    lifetimeMs: number,
    bodyFirst: number,
    slot: SlotId,
    offset: number,
    length: number,
  ): void {
    this.#answerMetadata(asker, metadata, ageMs, lifetimeMs, bodyFirst, length);
    this.#sendFromSlot(asker, slot, offset, length);
  }

  answerMetadataFromMemory(
    asker: Asker,
    metadata: ObjectMetadata,
    ageMs: number,
    lifetimeMs: number,
    bodyFirst: number,
    memory: number,
    length: number,
  ): void {
    this.#answerMetadata(asker, metadata, ageMs, lifetimeMs, bodyFirst, length);
    this.continueFromMemory(asker, memory, length);
  }

  answerFromSlot(asker: Asker, slot: SlotId, offset: number, length: number): void {
    this.beginAnswer(asker, length);
    this.#sendFromSlot(asker, slot, offset, length);
  }

  beginAnswer(asker: Asker, length: number): void {
    const { transfer } = this.#waitingFor(asker);
    transfer.begin(length);
    const answer = newReadAnswer();
    answer.kind = 'bytes';
    answer.bodyFirst = transfer.request.first;
    answer.bodyLength = length;
    this.#deliver(transfer, () => {
      transfer.taker.onAnswer(transfer, answer);
    });
  }

  continueFromMemory(asker: Asker, memory: number, length: number): void {
    this.#send(asker, this.#memory.slice(memory, memory + length));
  }

  abortAnswer(asker: Asker): void {
    const { transfer } = this.#waitingFor(asker);
    this.#breakOff(transfer);
    this.#answered(asker, 'aborted');
  }

  answerFailure(asker: Asker, failure: ReadFailure, error: OriginError | null): void {
    const { transfer, record } = this.#waitingFor(asker);
    transfer.begin(0);
    if (error !== null) record.errorOf = requestOfError(error);
    if (failure === 'busy') this.#noteFull(record);
    this.#answered(asker, 'failed');
    const answer = newReadAnswer();
    answer.failure = failure;
    answer.error = error;
    this.#deliver(transfer, () => {
      transfer.taker.onAnswer(transfer, answer);
    });
  }

  startFetch(fetch: FetchId, request: FetchRequest): void {
    this.fetches.start(fetch, request);
  }

  receiveInto(fetch: FetchId, memory: number, length: number): void {
    this.fetches.receiveInto(fetch, memory, length);
  }

  receiveDirect(fetch: FetchId, asker: Asker): void {
    this.fetches.receiveDirect(fetch, asker);
  }

  cancelFetch(fetch: FetchId): void {
    this.fetches.cancel(fetch);
  }

  writeSlot(slot: SlotId, memory: number, length: number): void {
    assert(length % 4096 === 0 && length <= this.store.slotBytes(slot), 'writes fit their slot');
    this.#noteAdmission(slot);
    this.#slots.write(slot, memory, length);
  }

  syncSlab(): void {
    this.#slots.syncSlab();
  }

  writeRecord(slot: SlotId, record: Uint8Array): void {
    this.#slots.writeRecord(slot, record);
  }

  syncTable(): void {
    this.#slots.syncTable();
  }

  verifySlot(slot: SlotId): void {
    this.#slots.verify(slot);
  }

  logMetadata(hash: Hash128, metadata: ObjectMetadata): void {
    const bytes = new Uint8Array(putBytes(metadata));
    encodePut(bytes, 0, hash, metadata);
    this.#options.files.appendLog(bytes);
  }

  logForgotten(hash: Hash128): void {
    const bytes = new Uint8Array(FORGOTTEN_BYTES);
    encodeForgotten(bytes, 0, hash);
    this.#options.files.appendLog(bytes);
  }

  compactMetadataLog(): void {
    this.#options.world.queue.in(1, () => {
      if (this.isOver) return;
      this.#rewriteLog();
      this.node.onMetadataLogCompacted(this.#clock);
      this.#afterEvent();
    });
  }

  #afterEvent(): void {
    this.#ticker.afterEvent();
    const { onFlushed } = this;
    if (onFlushed === null || this.node.journal.levels().unflushed > 0) return;
    this.onFlushed = null;
    this.#options.world.queue.in(0, () => {
      if (!this.isOver) onFlushed();
    });
  }

  get #clock(): number {
    return this.#options.clock.now;
  }

  get #now(): number {
    return this.#options.world.queue.now;
  }

  #waitingFor(asker: Asker): Waiting {
    const waiting = this.#waiting.get(asker);
    assert(waiting !== undefined, 'only an asker that waits is answered');
    return waiting;
  }

  /** Its answer is complete, or never will be. */
  #answered(asker: Asker, end: NodeRead['end']): void {
    const { record } = this.#waitingFor(asker);
    record.end = end;
    record.endedAt = this.#now;
    this.#waiting.delete(asker);
    this.#options.world.checkers.nodeReadEnded(record);
  }

  #answerMetadata(
    asker: Asker,
    metadata: ObjectMetadata,
    ageMs: number,
    lifetimeMs: number,
    bodyFirst: number,
    length: number,
  ): void {
    const { transfer } = this.#waitingFor(asker);
    assert(transfer.request.kind === 'lookup', 'metadata answers lookups');
    assert(length <= transfer.request.bodyLimit, 'a body keeps to its limit');
    assert(ageMs >= 0, 'metadata has an age');
    transfer.begin(length);
    const answer = newReadAnswer();
    answer.kind = 'metadata';
    answer.metadata = metadata;
    answer.ageMs = ageMs;
    answer.lifetimeMs = lifetimeMs;
    answer.bodyFirst = bodyFirst;
    answer.bodyLength = length;
    this.#deliver(transfer, () => {
      transfer.taker.onAnswer(transfer, answer);
    });
  }

  #send(asker: Asker, bytes: Uint8Array): void {
    const { transfer } = this.#waitingFor(asker);
    transfer.send(bytes.length);
    this.#deliverBytes(transfer, bytes);
    if (transfer.sent === transfer.promised) this.#answered(asker, 'served');
  }

  #sendFromSlot(asker: Asker, slot: SlotId, offset: number, length: number): void {
    assert(offset + length <= this.#options.layout.blockBytes, 'an answer lies within its block');
    const { transfer } = this.#waitingFor(asker);
    this.#answered(asker, 'served');
    this.#slots.served(slot);
    this.#options.files.disk.read(() => {
      if (this.#options.readErrno() === 0) {
        transfer.send(length);
        this.#deliverBytes(transfer, this.#slots.read(slot, offset, length));
      } else {
        this.#breakOff(transfer);
        this.node.onSlotUnreadable(this.#clock, slot);
      }
      this.node.onSlotSent(this.#clock, slot);
      this.#afterEvent();
    });
  }

  /** The block that a slot was reserved for is on its way to the disk. */
  #noteAdmission(slot: SlotId): void {
    const { world, ring, layout, policyOf } = this.#options;
    const place = newBlockPlace();
    this.store.describe(slot, place);
    const named = world.identities.named(place.version);
    assert(named !== null, 'a block that is stored has an identity');
    const { bucket, key, etag } = named;
    const states = world.origin.oracle.history(bucket, key);
    const size = states.find((state) => state.etag === etag)?.size ?? 0;
    const placement = { hi: 0, lo: 0 };
    const ranked: number[] = [];
    placeBlock(layout, world.identities.hashOf(bucket, key), size, place.block, placement);
    candidates(ring, placement, 2, ranked);
    const rank = ranked.indexOf(this.nodeId);
    const admission: Admission = {
      node: this.nodeId,
      life: this.life,
      at: this.#now,
      block: { bucket, key, etag, index: place.block },
      admitsOnFirstRead: policyOf(bucket).admitOnFirstRead,
      as: rank === 0 ? 'owner' : rank === 1 ? 'stand-in' : 'other',
      isAtOnce: false,
    };
    world.history.admitted(admission);
    world.checkers.admitted(admission);
  }

  /** A pool was full, as its counters must say: whoever was turned away has that for an excuse. */
  #noteFull({ bucket, key }: NodeRead): void {
    const { readersExhausted, fetchesExhausted } = this.node.counters;
    const exhausted = readersExhausted + fetchesExhausted;
    // A lookup that finds no fetch turns away all that wait for it, at one moment, and counts once.
    if (exhausted === this.#exhausted && this.#now !== this.#exhaustedAt) return;
    this.#exhausted = exhausted;
    this.#exhaustedAt = this.#now;
    const { world } = this.#options;
    world.situations.arose('node full');
    world.history.faultBegan({
      what: `node ${this.nodeId} is full`,
      from: this.#now,
      until: this.#now,
      gateway: -1,
      object: nameOf(bucket, key),
    });
  }

  #rewriteLog(): void {
    const pieces = [encodeLogHeader(this.#header.cacheId)];
    let from = 0;
    do {
      from = this.node.metadataFrom(from, 100, (hash, metadata) => {
        const bytes = new Uint8Array(putBytes(metadata));
        encodePut(bytes, 0, hash, metadata);
        pieces.push(bytes);
      });
    } while (from !== 0);
    const log = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of pieces) {
      log.set(piece, at);
      at += piece.length;
    }
    this.#options.files.replaceLog(log);
  }

  #breakOff(transfer: ReadTransfer): void {
    assert(transfer.isAnswered, 'only an answer that began breaks off');
    transfer.isAborted = true;
    this.#deliver(transfer, () => {
      transfer.taker.onBreak(transfer);
    });
  }

  #deliverBytes(transfer: ReadTransfer, bytes: Uint8Array): void {
    this.#deliver(transfer, () => {
      transfer.taker.onBytes(transfer, bytes);
    });
  }

  /** What the node sends in order arrives in order, as long as the gateway wants it. */
  #deliver(transfer: ReadTransfer, act: () => void): void {
    this.#options.world.network.toGateway(transfer.link, transfer.toGateway, () => {
      if (!transfer.isOver) act();
    });
  }
}
