/**
 * One gateway and some nodes in memory, over a model of S3: real bytes, a clock of their own, and a driver that keeps to
 * the effects' rules and checks that the machines do. Deterministic: with a seed, delays and chunk sizes vary.
 */
import { assert } from '../base/assert.ts';
import { Prng } from '../base/prng.ts';
import { newClientRequest } from '../gateway/client-request.ts';
import type { ExchangeId, GatewayEffects, ReadId } from '../gateway/effects.ts';
import { Gateway } from '../gateway/gateway.ts';
import type { WriteOutcome } from '../gateway/knowledge.ts';
import { defaultGatewayLimits, type GatewayLimits } from '../gateway/limits.ts';
import { WriteEpochs } from '../gateway/write-epochs.ts';
import { Layout } from '../layout.ts';
import type { NodeMessage } from '../node-message.ts';
import { defaultNodeLimits, type NodeLimits } from '../node/limits.ts';
import type { BucketPolicy } from '../node/policy.ts';
import { placeHome, ownerOf } from '../placement.ts';
import {
  newReadAnswer,
  type ObjectMetadata,
  type OriginError,
  type ReadAnswer,
  type ReadRequest,
} from '../read.ts';
import { RingHistory, type DatedRing } from '../ring-history.ts';
import { Ring, type Member } from '../ring.ts';
import type { ErrorCode } from '../s3/errors.ts';
import { EventQueue } from './event-queue.ts';
import { objectHash, TestIdentity } from './identity.ts';
import { S3Model } from './s3-model.ts';
import { requestOf, TestClient, type TestRequest } from './test-client.ts';
import { TestNode, type TestWorld } from './test-node.ts';
import { Transfer } from './transfer.ts';

export const blockBytes = 16 * 1024;
export const chunkBytes = 4 * blockBytes;
export const smallAnswerBytes = 2048;

export interface RigOptions {
  readonly nodes?: number;
  /** Nodes that are there from the start but aren't members of the ring yet. */
  readonly spareNodes?: number;
  readonly policy?: Partial<BucketPolicy>;
  readonly gatewayLimits?: Partial<GatewayLimits>;
  /** Slots that objects share when they are written; a power of two. */
  readonly writeSlots?: number;
  readonly nodeLimits?: Partial<NodeLimits>;
  readonly storeBytes?: number;
  /** Random delays and chunks; without a seed each takes 1 ms and bytes come as they fit. */
  readonly seed?: number;
}

export class Rig implements GatewayEffects, TestWorld {
  readonly queue = new EventQueue();
  readonly s3 = new S3Model();
  readonly identity = new TestIdentity();
  readonly layout = new Layout({
    blockBytes,
    chunkBytes,
    tailBytes: chunkBytes,
    wholeBytes: 2 * chunkBytes,
  });
  readonly policy: BucketPolicy;
  readonly gateway: Gateway;
  readonly nodes: TestNode[] = [];
  readonly #rings: RingHistory;
  readonly clients = new Map<ExchangeId, TestClient>();
  readonly transfers = new Map<ReadId, Transfer>();
  /** What nodes told each other. */
  readonly messages: NodeMessage[] = [];
  losesMessages = false;
  readonly #prng: Prng | null;
  #exchanges = 0;

  constructor(options: RigOptions = {}) {
    this.policy = { immutable: false, ttlMs: 10_000, admitOnFirstRead: false, ...options.policy };
    this.#prng = options.seed === undefined ? null : new Prng(options.seed, 1);
    const count = options.nodes ?? 3;
    const members = [];
    for (let i = 0; i < count; i++) members.push(memberOf(i));
    this.#rings = new RingHistory(options.nodeLimits?.fallbackWindowMs ?? 600_000);
    this.#rings.advance(0, new Ring(1, members));
    for (let nodeId = 0; nodeId < count + (options.spareNodes ?? 0); nodeId++) {
      const node = new TestNode(this, {
        layout: this.layout,
        ring: this.ring,
        nodeId,
        policyOf: () => this.policy,
        limits: {
          ...defaultNodeLimits,
          maxReaders: 256,
          maxFetches: 32,
          fillBudgetBytes: 64 * blockBytes,
          smallAnswerBytes,
          ...options.nodeLimits,
        },
        storeBytes: options.storeBytes ?? 8 * 1024 * 1024,
      });
      this.nodes.push(node);
    }
    this.gateway = new Gateway({
      effects: this,
      layout: this.layout,
      ring: this.ring,
      limits: {
        ...defaultGatewayLimits,
        maxReads: 256,
        smallAnswerBytes,
        metadataEntries: 1000,
        ...options.gatewayLimits,
      },
      epochs: new WriteEpochs(new Uint32Array(options.writeSlots ?? 1024), 5),
      seed: 5,
    });
  }

  /** The newest ring. */
  get ring(): Ring {
    const ring = this.#rings.current;
    assert(ring !== null, 'there is a ring from the start');
    return ring;
  }

  rings(): readonly DatedRing[] {
    return this.#rings.rings(this.queue.now);
  }

  /** The members change. Each process hears of it in its time, `isAtOnce` excepted. */
  changeRing(nodeIds: readonly number[], isAtOnce = false): void {
    const ring = new Ring(this.ring.version + 1, nodeIds.map(memberOf));
    this.#rings.advance(this.queue.now, ring);
    const tell = (act: () => void): void => {
      if (isAtOnce) act();
      else this.queue.in(this.delayMs(), act);
    };
    for (const host of this.nodes) {
      tell(() => {
        const [current, ...replaced] = this.rings();
        // Whoever lives there by then: the process may have been restarted meanwhile.
        host.node.onRing(this.queue.now, current!.ring, replaced);
      });
    }
    tell(() => {
      this.gateway.onRing(this.queue.now, this.ring);
    });
  }

  /** The node that is the object's home. */
  homeOf(key: string): TestNode {
    const placement = { hi: 0, lo: 0 };
    placeHome(objectHash('b', key), placement);
    return this.nodes[ownerOf(this.ring, placement)]!;
  }

  /** A counter's sum over all nodes. */
  count(counter: keyof TestNode['node']['counters']): number {
    return this.nodes.reduce((sum, { node }) => sum + node.counters[counter], 0);
  }

  /** Sends a request; nothing has happened when this returns but the gateway's first step. */
  ask(key: string, change: Partial<TestRequest> = {}): TestClient {
    const request = requestOf(key, change);
    this.#exchanges += 1;
    const client = new TestClient(this.#exchanges, request, this.queue.now);
    this.clients.set(client.exchange, client);
    const asked = newClientRequest();
    asked.head = request.head;
    asked.bucket = request.bucket;
    asked.key = request.key;
    Object.assign(asked.hash, objectHash(request.bucket, request.key));
    Object.assign(asked.range, request.range);
    asked.conditions = request.conditions;
    this.gateway.onRequest(this.queue.now, client.exchange, asked);
    return client;
  }

  /** Sends a request and lets everything happen that follows from it. */
  get(key: string, change: Partial<TestRequest> = {}): TestClient {
    const client = this.ask(key, change);
    this.settle();
    return client;
  }

  /** The client leaves. */
  leave(client: TestClient): void {
    assert(client.isOpen, 'only an open exchange is left');
    this.#endExchange(client, 'gone');
    this.gateway.onClientGone(this.queue.now, client.exchange);
  }

  /** A client that stalled reads on. */
  resume(client: TestClient): void {
    client.isStalled = false;
    if (client.waitsForTaken) this.#taken(client);
  }

  /** The start of a write through the gateway, by way of the object's home unless that just changed. */
  startWrite(key: string, passesHome = true): void {
    const hash = objectHash('b', key);
    this.gateway.onWriteStarted(this.queue.now, hash);
    if (passesHome) this.homeOf(key).node.onWrite(this.queue.now, hash, 'started');
  }

  finishWrite(key: string, outcome: WriteOutcome, passesHome = true): void {
    const hash = objectHash('b', key);
    if (passesHome) this.homeOf(key).node.onWrite(this.queue.now, hash, 'finished');
    this.gateway.onWriteFinished(this.queue.now, hash, outcome);
  }

  /** A whole write that takes no time: the ETag of the new version. */
  write(key: string, size: number): string {
    this.startWrite(key);
    const etag = this.s3.put(this.queue.now, 'b', key, size);
    this.finishWrite(key, 'done');
    return etag;
  }

  /** Everything that is under way happens; no deadline passes. */
  settle(): void {
    let steps = 0;
    while (this.queue.step()) {
      steps += 1;
      assert(steps < 1_000_000, 'what happens comes to an end');
    }
  }

  /** One thing happens; false when nothing is under way. */
  step(): boolean {
    return this.queue.step();
  }

  /** Time passes, with its events and deadlines. */
  pass(ms: number): void {
    const end = this.queue.now + ms;
    for (;;) {
      const deadline = this.#deadline();
      const next = Math.min(this.queue.next, deadline);
      if (next > end) break;
      if (this.queue.next <= deadline) this.queue.step();
      else this.#tick(deadline);
    }
    this.queue.now = end;
  }

  /** Once all is quiet and every deadline has passed, nothing may be left of anything. */
  assertNothingLeft(): void {
    this.settle();
    this.pass(120_000);
    this.settle();
    for (const client of this.clients.values()) assert(!client.isOpen, 'every exchange ended');
    const { clientReads, outstandingReads } = this.gateway.levels();
    assert(clientReads === 0 && outstandingReads === 0, 'the gateway holds nothing');
    for (const { node, store, disk, originFetches, peerFetches, askers } of this.nodes) {
      const { waitingReaders, lookups, fetches, fillBytes, leasesGranted, leasesHeld } =
        node.levels();
      assert(waitingReaders === 0 && lookups === 0, 'no reader waits');
      assert(fetches === 0 && originFetches.size === 0, 'no fetch is out');
      assert(peerFetches.size === 0, 'no node is asked');
      assert(fillBytes === 0, 'no fill memory is in use');
      assert(leasesGranted + leasesHeld === 0, 'every lease has ended');
      assert(askers.size === 0, 'every asker was answered');
      assert(store.counters.pinned === 0 && store.counters.reserved === 0, 'no slot is held');
      const { waitingWrites, writes, unrecorded, unclearedRows } = node.journal.levels();
      assert(waitingWrites + writes + unrecorded + unclearedRows === 0, 'all is on disk');
      disk.assertInStep();
    }
    assert(this.transfers.size === 0, 'no read is under way');
  }

  delayMs(): number {
    return this.#prng === null ? 1 : this.#prng.below(40) / 4;
  }

  chunkOf(available: number): number {
    return this.#prng === null ? available : 1 + this.#prng.below(available);
  }

  deliverAnswer(transfer: Transfer, answer: ReadAnswer): void {
    this.#arrive(transfer, () => {
      if (transfer.askedBy !== null) {
        transfer.askedBy.answerArrives(transfer, answer);
        return;
      }
      transfer.isAnnounced = true;
      if (answer.bodyLength === 0) this.#endTransfer(transfer);
      this.gateway.onAnswer(this.queue.now, transfer.read, answer);
      this.#relay(transfer);
    });
  }

  deliverBytes(transfer: Transfer, bytes: Uint8Array): void {
    this.#arrive(transfer, () => {
      if (transfer.askedBy !== null) {
        transfer.askedBy.bytesArrive(transfer, bytes);
        return;
      }
      transfer.arrived.push(bytes);
      this.#relay(transfer);
    });
  }

  deliverBreak(transfer: Transfer): void {
    this.#arrive(transfer, () => {
      if (transfer.askedBy !== null) {
        transfer.askedBy.breakArrives(transfer);
        return;
      }
      transfer.hasBrokenOff = true;
      this.#relay(transfer);
    });
  }

  deliverMessage(nodeId: number, message: NodeMessage): void {
    const node = this.nodes[nodeId];
    assert(node !== undefined, 'messages go to nodes that there are');
    const copy = { ...message, placement: { ...message.placement }, hash: { ...message.hash } };
    this.messages.push(copy);
    this.queue.in(this.delayMs(), () => {
      if (!node.isDown && !this.losesMessages) node.hear(copy);
    });
  }

  sendRead(read: ReadId, nodeId: number, request: ReadRequest): void {
    assert(!this.transfers.has(read), 'a read is sent once');
    const transfer = new Transfer(read, request, nodeId);
    this.transfers.set(read, transfer);
    this.askNode(transfer);
  }

  askNode(transfer: Transfer): void {
    const node = this.nodes[transfer.nodeIndex];
    assert(node !== undefined, 'reads go to nodes that there are');
    this.queue.in(this.delayMs(), () => {
      if (transfer.isCancelled) return;
      if (!node.isDown) node.take(transfer);
      else this.deliverAnswer(transfer, newReadAnswer());
    });
  }

  cancelAtNode(transfer: Transfer): void {
    const node = this.nodes[transfer.nodeIndex]!;
    this.queue.in(this.delayMs(), () => node.cancel(transfer));
  }

  cancelRead(read: ReadId): void {
    const transfer = this.transfers.get(read);
    assert(transfer !== undefined, 'only a read that is out is cancelled');
    transfer.isCancelled = true;
    this.#endTransfer(transfer);
    this.cancelAtNode(transfer);
  }

  answerHead(
    exchange: ExchangeId,
    status: 200 | 206 | 304,
    metadata: ObjectMetadata,
    first: number,
    length: number,
  ): void {
    const client = this.#open(exchange);
    assert(client.status === 0, 'one head an answer');
    client.status = status;
    client.metadata = metadata;
    client.first = first;
    client.length = length;
  }

  relayBody(exchange: ExchangeId, read: ReadId): void {
    this.#open(exchange);
    const transfer = this.transfers.get(read);
    assert(transfer?.isAnnounced === true && !transfer.isCancelled, 'relays what was announced');
    assert(transfer.relayedTo === null, 'a body is relayed once');
    transfer.relayedTo = exchange;
    // A body that was held: what has arrived goes on once this effect's event has returned.
    this.queue.in(0, () => {
      if (!transfer.isCancelled) this.#relay(transfer);
    });
  }

  awaitTaken(exchange: ExchangeId): void {
    const client = this.#open(exchange);
    client.waitsForTaken = true;
    if (!client.isStalled) this.#taken(client);
  }

  finish(exchange: ExchangeId): void {
    const client = this.#open(exchange);
    const hasBody = client.status !== 304 && !client.request.head;
    assert(!hasBody || client.received === client.length, 'a finished answer is whole');
    this.#endExchange(client, 'finished');
  }

  abort(exchange: ExchangeId): void {
    const client = this.#open(exchange);
    assert(client.status !== 0, 'only a begun answer is aborted');
    this.#endExchange(client, 'aborted');
  }

  answerError(exchange: ExchangeId, code: ErrorCode, metadata: ObjectMetadata | null): void {
    const client = this.#unanswered(exchange);
    client.code = code;
    client.metadata = metadata;
    this.#endExchange(client, 'error');
  }

  answerOriginError(exchange: ExchangeId, error: OriginError): void {
    const client = this.#unanswered(exchange);
    client.originError = error;
    this.#endExchange(client, 'originError');
  }

  passThrough(exchange: ExchangeId): void {
    this.#endExchange(this.#unanswered(exchange), 'passThrough');
  }

  #open(exchange: ExchangeId): TestClient {
    const client = this.clients.get(exchange);
    assert(client?.isOpen === true, 'effects are for open exchanges');
    return client;
  }

  #unanswered(exchange: ExchangeId): TestClient {
    const client = this.#open(exchange);
    assert(client.status === 0, 'nothing was sent before');
    return client;
  }

  #endExchange(client: TestClient, end: TestClient['end']): void {
    client.end = end;
    client.endedAt = this.queue.now;
  }

  #taken(client: TestClient): void {
    this.queue.in(this.delayMs(), () => {
      if (!client.isOpen || !client.waitsForTaken) return;
      client.waitsForTaken = false;
      this.gateway.onTaken(this.queue.now, client.exchange);
    });
  }

  /** What one side sent in order arrives in order. */
  #arrive(transfer: Transfer, act: () => void): void {
    const time = Math.max(transfer.arrivesAfter, this.queue.now + this.delayMs());
    transfer.arrivesAfter = time;
    this.queue.at(time, () => {
      if (!transfer.isCancelled) act();
    });
  }

  /** Moves what has arrived to the client, and tells the gateway when that was all. */
  #relay(transfer: Transfer): void {
    const { relayedTo, arrived } = transfer;
    if (relayedTo === null || transfer.isOver) return;
    const client = this.#open(relayedTo);
    for (let bytes = arrived.shift(); bytes !== undefined; bytes = arrived.shift()) {
      client.append(bytes);
      transfer.queuedBytes += bytes.length;
    }
    const { read, queuedBytes, promised } = transfer;
    if (queuedBytes === promised) {
      this.#endTransfer(transfer);
      this.gateway.onBodyQueued(this.queue.now, relayedTo, read);
    } else if (transfer.hasBrokenOff) {
      this.#endTransfer(transfer);
      this.gateway.onBodyFailed(this.queue.now, relayedTo, read, queuedBytes);
    }
  }

  #endTransfer(transfer: Transfer): void {
    transfer.isOver = true;
    this.transfers.delete(transfer.read);
  }

  #deadline(): number {
    let deadline = this.gateway.nextDeadline();
    for (const { node } of this.nodes) deadline = Math.min(deadline, node.nextDeadline());
    return deadline;
  }

  #tick(deadline: number): void {
    this.queue.now = Math.max(this.queue.now, deadline);
    const { now } = this.queue;
    if (this.gateway.nextDeadline() <= now) this.gateway.onTick(now);
    for (const { node } of this.nodes) if (node.nextDeadline() <= now) node.onTick(now);
  }
}

function memberOf(nodeId: number): Member {
  return { nodeId, weight: 1, address: `node-${nodeId}` };
}
