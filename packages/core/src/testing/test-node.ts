/**
 * A storage node in memory: the machine, a driver that queues its effects, real bytes for its disk and its fill memory, and
 * lines to the model of S3 (origin-fetches.ts) and to other nodes (peer-fetches.ts). Checks the effects' rules as it goes. Its
 * process can die and come back on the same disk.
 */
import { assert } from '../base/assert.ts';
import type { Hash128 } from '../base/hash.ts';
import type { RecoveryCounts } from '../journal/recovery.ts';
import type { Layout } from '../layout.ts';
import {
  copyHotHint,
  newHotHint,
  newReadAnswer,
  type HotHint,
  type ObjectMetadata,
  type OriginError,
  type ReadAnswer,
  type ReadFailure,
  type ReadRequest,
} from '../read.ts';
import type { DatedRing } from '../ring-history.ts';
import type { Ring } from '../ring.ts';
import { Store, type SlotId } from '../store/store.ts';
import type {
  Asker,
  FetchEnd,
  FetchHead,
  FetchId,
  FetchRequest,
  NodeEffects,
} from '../node/effects.ts';
import type { NodeMessage } from '../node-message.ts';
import type { NodeLimits } from '../node/limits.ts';
import { Node } from '../node/node.ts';
import type { PolicyOf } from '../node/policy.ts';
import type { TestIdentity } from './identity.ts';
import { OriginFetches, type OriginFetchEvents, type OriginWay } from './origin-fetches.ts';
import { PeerFetches, type PeerFetchEvents, type PeerWay } from './peer-fetches.ts';
import { TestDisk } from './test-disk.ts';
import type { Transfer } from './transfer.ts';

/** What a node needs of its surroundings. */
export interface TestWorld extends OriginWay, PeerWay {
  readonly identity: TestIdentity;
  /** The rings of the window, newest first, as a node learns them that comes back. */
  rings(): readonly DatedRing[];
  /** The node's answer travels to whoever asked. */
  deliverAnswer(transfer: Transfer, answer: ReadAnswer): void;
  deliverBytes(transfer: Transfer, bytes: Uint8Array): void;
  deliverBreak(transfer: Transfer): void;
  /** A message travels to another node, and is lost if that is down. */
  deliverMessage(nodeId: number, message: NodeMessage): void;
}

export interface TestNodeOptions {
  readonly layout: Layout;
  readonly ring: Ring;
  readonly nodeId: number;
  readonly policyOf: PolicyOf;
  readonly limits: NodeLimits;
  readonly storeBytes: number;
}

export class TestNode implements NodeEffects, OriginFetchEvents, PeerFetchEvents {
  /** Those of the present life. */
  node: Node;
  store: Store;
  /** What the present life began with. */
  recovered: RecoveryCounts;
  readonly disk: TestDisk;
  readonly askers = new Map<Asker, Transfer>();
  readonly originFetches: OriginFetches;
  readonly peerFetches: PeerFetches;
  isDown = false;
  /** Takes questions and says nothing. */
  isSilent = false;
  /** Its answers to other nodes break off in the middle. */
  cutsHandovers = false;
  readonly #world: TestWorld;
  readonly #options: TestNodeOptions;
  readonly #memory: Uint8Array;
  #storeBytes: number;
  /** Answers on their way out of slots. */
  readonly #sending = new Map<Transfer, SlotId>();
  /** The hint of the present event, and whose it is. */
  readonly #hint = newHotHint();
  #hinted: Asker | null = null;
  #lives = 0;
  #askers = 0;

  constructor(world: TestWorld, options: TestNodeOptions) {
    this.#world = world;
    this.#options = options;
    this.#memory = new Uint8Array(options.limits.fillBudgetBytes);
    this.originFetches = new OriginFetches(world, this);
    this.peerFetches = new PeerFetches(world, this);
    this.#storeBytes = options.storeBytes;
    this.store = this.#newStore();
    this.disk = new TestDisk(world, this.store.slabBytes, options.nodeId);
    this.recovered = this.disk.open(this.store);
    this.node = this.#newNode();
    this.#join();
  }

  /** The process dies, power goes, and it is back at once. Whoever waited for an answer notices. */
  crash(): void {
    this.disk.crash();
    this.#restart();
  }

  /** The process ends as it should, once everything is durable, and is back at once. Meanwhile all goes on. */
  restart(): void {
    const { queue } = this.#world;
    this.node.onShutdown(queue.now);
    while (this.node.journal.levels().unflushed > 0) {
      const deadline = this.node.nextDeadline();
      if (queue.next > deadline) {
        queue.now = Math.max(queue.now, deadline);
        this.node.onTick(queue.now);
      } else {
        assert(queue.step(), 'a disk that works flushes');
      }
    }
    this.disk.endClean();
    this.#restart();
  }

  /** Ends as it should and comes back with another capacity. */
  resize(storeBytes: number): void {
    this.#storeBytes = storeBytes;
    this.restart();
  }

  /** A read arrives. */
  take(transfer: Transfer): void {
    if (this.isSilent) return;
    this.#askers += 1;
    const asker = this.#askers;
    this.askers.set(asker, transfer);
    this.node.onRead(this.#world.queue.now, asker, transfer.request);
    this.#hinted = null;
  }

  /** Another node tells something. */
  hear(message: NodeMessage): void {
    if (!this.isSilent) this.node.onMessage(this.#world.queue.now, message);
  }

  /** The gateway doesn't wait any more. */
  cancel(transfer: Transfer): void {
    for (const [asker, other] of this.askers) {
      if (other !== transfer) continue;
      this.askers.delete(asker);
      this.node.onReadCancelled(this.#world.queue.now, asker);
      return;
    }
  }

  answerMetadata(asker: Asker, metadata: ObjectMetadata, ageMs: number, lifetimeMs: number): void {
    this.#answerMetadata(asker, metadata, ageMs, lifetimeMs, 0, 0);
    this.askers.delete(asker);
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
    const transfer = this.#answerMetadata(asker, metadata, ageMs, lifetimeMs, bodyFirst, length);
    this.#sendFromSlot(asker, transfer, slot, offset, length);
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
    this.#begin(asker, length, true);
    this.#sendFromSlot(asker, this.#waiting(asker), slot, offset, length);
  }

  beginAnswer(asker: Asker, length: number): void {
    this.#begin(asker, length, false);
  }

  #begin(asker: Asker, length: number, isHinted: boolean): void {
    const transfer = this.#waiting(asker);
    transfer.begin(length);
    const answer = newReadAnswer();
    answer.kind = 'bytes';
    answer.bodyFirst = transfer.request.first;
    answer.bodyLength = length;
    if (isHinted) this.#addHint(asker, answer);
    this.#world.deliverAnswer(transfer, answer);
  }

  continueFromMemory(asker: Asker, memory: number, length: number): void {
    this.#send(asker, this.#memory.slice(memory, memory + length));
  }

  abortAnswer(asker: Asker): void {
    const transfer = this.#waiting(asker);
    assert(transfer.isAnswered, 'only an answer that began is aborted');
    transfer.isAborted = true;
    this.askers.delete(asker);
    this.#world.deliverBreak(transfer);
  }

  answerFailure(asker: Asker, failure: ReadFailure, error: OriginError | null): void {
    const transfer = this.#waiting(asker);
    transfer.begin(0);
    this.askers.delete(asker);
    const answer = newReadAnswer();
    answer.failure = failure;
    answer.error = error;
    this.#world.deliverAnswer(transfer, answer);
  }

  hintHot(asker: Asker, hint: HotHint): void {
    assert(this.#hinted === null, 'one hint an event');
    this.#waiting(asker);
    assert(hint.remainingMs > 0 && hint.nodes.length > 1, 'a hint says something');
    copyHotHint(hint, this.#hint);
    this.#hinted = asker;
  }

  sendToNode(nodeId: number, message: NodeMessage): void {
    assert(nodeId !== this.#options.nodeId, 'nobody tells himself');
    assert(message.from === this.#options.nodeId, 'nobody speaks for another');
    this.#world.deliverMessage(nodeId, message);
  }

  startFetch(id: FetchId, request: FetchRequest): void {
    this.originFetches.start(id, request);
  }

  onOriginHead(id: FetchId, head: FetchHead): void {
    this.node.onFetchHead(this.#world.queue.now, id, head);
  }

  onOriginFailed(id: FetchId): void {
    this.node.onFetchFailed(this.#world.queue.now, id, null);
  }

  onOriginBytes(id: FetchId, bytes: Uint8Array, memory: number): void {
    this.#receive(id, bytes, memory);
  }

  onDirectBytes(asker: Asker, bytes: Uint8Array): void {
    this.#send(asker, bytes);
  }

  onOriginEnd(id: FetchId, end: FetchEnd): void {
    this.node.onFetchEnd(this.#world.queue.now, id, end);
  }

  startPeerFetch(id: FetchId, nodeId: number, request: ReadRequest): void {
    assert(!this.originFetches.has(id), 'a fetch goes to one place at a time');
    assert(nodeId !== this.#options.nodeId, 'a node has what it holds');
    this.peerFetches.start(id, nodeId, request);
  }

  onPeerAnswer(id: FetchId, answer: ReadAnswer): void {
    this.node.onPeerAnswer(this.#world.queue.now, id, answer);
  }

  onPeerBytes(id: FetchId, bytes: Uint8Array, memory: number): void {
    this.#receive(id, bytes, memory);
  }

  onPeerEnd(id: FetchId, end: FetchEnd): void {
    this.node.onFetchEnd(this.#world.queue.now, id, end);
  }

  receiveInto(id: FetchId, memory: number, length: number): void {
    if (this.peerFetches.has(id)) this.peerFetches.receiveInto(id, memory, length);
    else this.originFetches.receiveInto(id, memory, length);
  }

  receiveDirect(id: FetchId, asker: Asker): void {
    this.originFetches.receiveDirect(id, asker);
  }

  cancelFetch(id: FetchId): void {
    if (this.peerFetches.has(id)) this.peerFetches.cancel(id);
    else this.originFetches.cancel(id);
  }

  writeSlot(slot: SlotId, memory: number, length: number): void {
    this.disk.writeSlot(slot, memory, length);
  }

  syncSlab(): void {
    this.disk.syncSlab();
  }

  writeRecord(slot: SlotId, record: Uint8Array): void {
    this.disk.writeRecord(slot, record);
  }

  syncTable(): void {
    this.disk.syncTable();
  }

  verifySlot(slot: SlotId): void {
    this.disk.verifySlot(slot);
  }

  logMetadata(hash: Hash128, metadata: ObjectMetadata): void {
    this.disk.logMetadata(hash, metadata);
  }

  logForgotten(hash: Hash128): void {
    this.disk.logForgotten(hash);
  }

  compactMetadataLog(): void {
    this.disk.compactMetadataLog();
  }

  /** The slab is cut at `slabBytes`: what is read past that breaks off, and the first to notice says so. */
  truncate(slabBytes: number): void {
    const { now } = this.#world.queue;
    const whole = Math.floor(slabBytes / 512) * 512;
    if (whole >= this.disk.slab.length) return;
    this.disk.cut(whole);
    for (const [transfer, slot] of this.#sending) {
      if (this.store.fileOffset(slot) + this.store.length(slot) <= whole) continue;
      this.#sending.delete(transfer);
      this.#world.deliverBreak(transfer);
      this.node.onSlotSent(now, slot);
    }
    this.node.onSlabTruncated(now, whole);
  }

  #newStore(): Store {
    const { layout, nodeId } = this.#options;
    const seed = { hi: nodeId + 1, lo: 99 + this.#lives };
    return new Store({ capacityBytes: this.#storeBytes, blockBytes: layout.blockBytes, seed });
  }

  #newNode(): Node {
    const { layout, ring, nodeId, policyOf, limits } = this.#options;
    const node = new Node({
      effects: this,
      digest: this.#world.identity,
      store: this.store,
      table: this.disk.header,
      layout,
      ring,
      nodeId,
      policyOf,
      limits,
      seed: { hi: nodeId + 1, lo: 99 },
    });
    this.disk.readLog(node.metadataLog);
    this.disk.attach(node, this.store, this.#memory);
    return node;
  }

  /** Whoever comes back asks for the rings first. */
  #join(): void {
    const [current, ...replaced] = this.#world.rings();
    if (current !== undefined) this.node.onRing(this.#world.queue.now, current.ring, replaced);
  }

  #restart(): void {
    this.#lives += 1;
    const waiting = [...this.askers.values(), ...this.#sending.keys()];
    this.askers.clear();
    this.#sending.clear();
    this.originFetches.forgetAll();
    this.peerFetches.forgetAll();
    this.store = this.#newStore();
    this.recovered = this.disk.open(this.store);
    this.node = this.#newNode();
    this.#join();
    for (const transfer of waiting) {
      if (transfer.isAnswered) {
        this.#world.deliverBreak(transfer);
      } else {
        transfer.begin(0);
        this.#world.deliverAnswer(transfer, newReadAnswer());
      }
    }
  }

  #waiting(asker: Asker): Transfer {
    const transfer = this.askers.get(asker);
    assert(transfer !== undefined, 'only an asker that waits is answered');
    return transfer;
  }

  #answerMetadata(
    asker: Asker,
    metadata: ObjectMetadata,
    ageMs: number,
    lifetimeMs: number,
    bodyFirst: number,
    length: number,
  ): Transfer {
    const transfer = this.#waiting(asker);
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
    this.#addHint(asker, answer);
    this.#world.deliverAnswer(transfer, answer);
    return transfer;
  }

  #addHint(asker: Asker, answer: ReadAnswer): void {
    if (this.#hinted === asker) copyHotHint(this.#hint, answer.hot);
  }

  #receive(id: FetchId, bytes: Uint8Array, memory: number): void {
    this.#memory.set(bytes, memory);
    this.node.onFetchBytes(this.#world.queue.now, id, bytes.length);
  }

  #send(asker: Asker, bytes: Uint8Array): void {
    const transfer = this.#waiting(asker);
    transfer.send(bytes.length);
    this.#world.deliverBytes(transfer, bytes);
    if (transfer.sent === transfer.promised) this.askers.delete(asker);
  }

  /** Bytes are read from the slot some time later, so a slot that is reused while pinned shows. */
  #sendFromSlot(
    asker: Asker,
    transfer: Transfer,
    slot: SlotId,
    offset: number,
    length: number,
  ): void {
    const { layout } = this.#options;
    assert(offset + length <= layout.blockBytes, 'an answer lies within its block');
    this.askers.delete(asker);
    this.#sending.set(transfer, slot);
    const { queue } = this.#world;
    const life = this.#lives;
    queue.in(this.#world.delayMs(), () => {
      if (this.#lives !== life || !this.#sending.has(transfer)) return;
      const start = this.store.fileOffset(slot) + offset;
      this.#sending.delete(transfer);
      const isCut = this.cutsHandovers && transfer.askedBy !== null;
      const sent = isCut ? Math.floor(length / 2) : length;
      transfer.send(sent);
      this.#world.deliverBytes(transfer, this.disk.slab.read(start, sent));
      if (isCut) this.#world.deliverBreak(transfer);
      this.node.onSlotSent(queue.now, slot);
    });
  }
}
