/**
 * One life of a storage node's process: the core's machine with its store and its memory, and a driver in parts that carries out
 * its effects over the models. Here its events come in. It ends by a crash or a clean stop; the host's disk outlives it.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { Verdict } from '@s3-accelerator/core/journal/effects.ts';
import type { TableHeader } from '@s3-accelerator/core/journal/table-header.ts';
import type { Layout } from '@s3-accelerator/core/layout.ts';
import type {
  Asker,
  FetchEnd,
  FetchHead,
  FetchId,
  NodeEffects,
} from '@s3-accelerator/core/node/effects.ts';
import type { NodeLimits } from '@s3-accelerator/core/node/limits.ts';
import { Node } from '@s3-accelerator/core/node/node.ts';
import type { PolicyOf } from '@s3-accelerator/core/node/policy.ts';
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { MembershipTiming } from '@s3-accelerator/core/membership/timing.ts';
import type { OriginError, ReadAnswer } from '@s3-accelerator/core/read.ts';
import type { NodeMessage } from '@s3-accelerator/core/node-message.ts';
import type { DatedRing } from '@s3-accelerator/core/ring-history.ts';
import type { Member } from '@s3-accelerator/core/ring.ts';
import { Store, type SlotId } from '@s3-accelerator/core/store/store.ts';
import type { ProcessState } from '../history/views.ts';
import { traced } from '../trace.ts';
import { admissionOf } from './admissions.ts';
import { HeldPlacements, placementName } from './held-placements.ts';
import { holdersOf } from './holders.ts';
import { nodeEffectNames } from './effect-names.ts';
import { MetadataLog } from './metadata-log.ts';
import type { Link, LinkEnd } from './network.ts';
import { NodeAnswers } from './node-answers.ts';
import type { MessageTaker } from './message-taker.ts';
import { NodeMessages } from './node-messages.ts';
import { NodeCluster } from './node-cluster.ts';
import type { NodeFiles } from './node-files.ts';
import { OriginFetches } from './origin-fetches.ts';
import type { Pass } from './pass.ts';
import { PeerFetches, type PeerFetchEvents, type PeerPlace } from './peer-fetches.ts';
import type { ProcessClock } from './process-clock.ts';
import { nodeState } from './process-states.ts';
import type { ReadTaker, ReadTransfer } from './read-transfer.ts';
import { SlotFiles, type SlotEvents } from './slot-files.ts';
import type { Surroundings } from './surroundings.ts';
import { Ticker } from './ticker.ts';

export interface NodeRunOptions {
  readonly world: Surroundings;
  readonly clock: ProcessClock;
  readonly files: NodeFiles;
  readonly layout: Layout;
  /** This node and the others that its configuration names. */
  readonly self: Member;
  readonly configured: readonly Member[];
  readonly timing: MembershipTiming;
  /** All of them, by node id. */
  readonly nodes: readonly PeerPlace[];
  readonly limits: NodeLimits;
  readonly policyOf: PolicyOf;
  readonly storeBytes: number;
  readonly doorkeeperWindowMs: number;
  readonly nodeId: number;
  readonly life: number;
  readonly place: number;
  readonly processId: number;
  /** Errno of the next write or read of the disk, 0 for good. */
  readonly writeErrno: () => number;
  readonly readErrno: () => number;
}

export class NodeRun implements LinkEnd, ReadTaker, MessageTaker, PeerFetchEvents, SlotEvents {
  readonly place: number;
  readonly processId: number;
  readonly node: Node;
  readonly store: Store;
  readonly cluster: NodeCluster;
  readonly fetches: PeerFetches;
  readonly answers: NodeAnswers;
  /** Clients' requests that pass through here. */
  readonly passes = new Set<Pass>();
  isOver = false;
  /** It is about to stop: nothing new is begun here. */
  isLeaving = false;
  readonly #options: NodeRunOptions;
  readonly #header: TableHeader;
  readonly #slots: SlotFiles;
  readonly #lent = new HeldPlacements();
  readonly #log: MetadataLog;
  readonly #ticker: Ticker;
  /** Called once everything stored is durable, after `shutDown`. */
  #onFlushed: (() => void) | null = null;

  constructor(options: NodeRunOptions) {
    const { world, files, layout, limits, nodeId, life, doorkeeperWindowMs } = options;
    const { queue, trace, identities } = world;
    const seed = { hi: world.seed + nodeId, lo: life };
    const { blockBytes } = layout;
    const capacityBytes = options.storeBytes;
    const store = new Store({ capacityBytes, blockBytes, seed, doorkeeperWindowMs });
    const header = files.begin(store);
    const memory = new Uint8Array(limits.fillBudgetBytes);
    this.#options = options;
    this.place = options.place;
    this.processId = options.processId;
    this.store = store;
    this.#header = header;
    this.#slots = new SlotFiles({
      world,
      files,
      store,
      header,
      memory,
      events: this,
      nodeId,
      life,
      writeErrno: options.writeErrno,
      readErrno: options.readErrno,
      onWrite: (slot) => {
        this.#admitted(slot);
      },
    });
    this.cluster = this.#newCluster();
    const origin = new OriginFetches({
      ...{ world, events: this, memory, node: nodeId, life },
      layout: options.layout,
      holdersOf: (request) => holdersOf({ ...options, cluster: this.cluster }, request),
      learnedAt: () => this.cluster.learnedAt,
    });
    const { nodes } = options;
    this.fetches = new PeerFetches({
      ...{ world, events: this, memory, origin, nodes },
      ...{ end: this, rings: this.cluster, nodeId, life },
    });
    this.answers = new NodeAnswers({
      world,
      nodeId,
      life,
      blockBytes,
      memory,
      slots: this.#slots,
      ringVersion: () => this.cluster.version(),
      exhausted: () => this.node.counters.readersExhausted + this.node.counters.fetchesExhausted,
      onSlotSent: (slot, isUnreadable) => {
        this.#slotSent(slot, isUnreadable);
      },
    });
    this.#log = new MetadataLog({
      queue,
      files,
      header,
      node: () => this.node,
      onCompacted: () => {
        this.node.onMetadataLogCompacted(this.#clock);
        this.#afterEvent();
      },
    });
    const messages = new NodeMessages(world, this.fetches, life);
    const drivers = [this.answers, this.fetches, messages, this.#slots, this.#log];
    this.node = new Node({
      effects: traced<NodeEffects>(drivers, nodeEffectNames, trace, `node ${nodeId}`, queue),
      digest: identities,
      store,
      table: header,
      layout,
      ring: this.cluster.ring.current,
      nodeId,
      policyOf: options.policyOf,
      limits,
      seed,
    });
    files.readLog(header, this.node.metadataLog);
    this.#ticker = new Ticker(queue, options.clock, this.node, () => world.timerLatenessMs());
    this.#ticker.afterEvent();
    this.cluster.gossip.start();
  }

  get nodeId(): number {
    return this.#options.nodeId;
  }

  get life(): number {
    return this.#options.life;
  }

  // What comes over links.

  /** A read arrives. */
  take(transfer: ReadTransfer): void {
    this.answers.add(transfer);
    const { situations } = this.#options.world;
    if (transfer.ringVersion < this.cluster.version()) situations.arose('stale ring answered');
    this.node.onRead(this.#clock, transfer.asker, transfer.request);
    this.answers.forgetHint();
    this.#afterEvent();
  }

  /** Another node tells something. */
  hear(message: NodeMessage): void {
    if (message.kind === 'lease') this.#lent.arrived(this.#options.world.queue.now, message);
    if (message.kind === 'refused') this.#noteRefusal(message);
    this.node.onMessage(this.#clock, message);
    this.#afterEvent();
  }

  #noteRefusal({ from: holder, placement, turn }: NodeMessage): void {
    const { world, nodeId: owner, life } = this.#options;
    world.checkers.leaseRefused({
      ...{ owner, life, holder, turn },
      placement: placementName(placement),
    });
  }

  /** The gateway doesn't wait any more. */
  cancel(transfer: ReadTransfer): void {
    if (this.isOver || !this.answers.cancel(transfer)) return;
    this.node.onReadCancelled(this.#clock, transfer.asker);
    this.#afterEvent();
  }

  onLinkLost(link: Link): void {
    if (this.isOver) return;
    this.fetches.linkLost(link);
    for (const transfer of this.answers.transfers()) {
      if (transfer.link === link) this.cancel(transfer);
    }
    for (const pass of [...this.passes]) if (pass.link === link) pass.lostAtNode();
  }

  onRingShown(link: Link, version: number): void {
    if (!this.isOver) this.fetches.ringShown(link, version);
  }

  usesLink(link: Link): boolean {
    return this.fetches.uses(link);
  }

  /** Somebody asks for the ring, and holds this version. */
  tellRings(held: number): DatedRing[] {
    return this.isOver ? [] : this.cluster.tellRings(held);
  }

  /** A write of the object passes through here: before it goes to S3, and before its outcome is known. */
  noteWrite(bucket: string, key: string, phase: 'started' | 'finished'): void {
    const hash = { ...this.#options.world.identities.hashOf(bucket, key) };
    this.node.onWrite(this.#clock, hash, phase);
    this.#afterEvent();
  }

  // What comes from S3, and from other nodes.

  onPeerAnswer(fetch: FetchId, answer: ReadAnswer): void {
    this.node.onPeerAnswer(this.#clock, fetch, answer);
    this.#afterEvent();
  }

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
    this.answers.sendDirect(asker, bytes);
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

  /** The slab was found shorter than it should be. */
  onSlabTruncated(slabBytes: number): void {
    this.node.onSlabTruncated(this.#clock, slabBytes);
    this.#afterEvent();
  }

  // How it ends.

  /** Says farewell, and lets those that have links here know that it takes nothing more. */
  leaveLinks(): void {
    this.isLeaving = true;
    this.cluster.gossip.stop();
    this.#options.world.network.tellAskers(this, (_, link) => {
      link.isLeaving = true;
    });
  }

  /** Whether somebody still waits for something from here. */
  get isUsed(): boolean {
    const { network } = this.#options.world;
    return this.answers.size > 0 || this.passes.size > 0 || network.isUsed(this);
  }

  /** Stores nothing more; `onFlushed` once all that is stored is durable. */
  shutDown(onFlushed: () => void): void {
    this.#onFlushed = onFlushed;
    this.node.onShutdown(this.#clock);
    this.#afterEvent();
  }

  /** Marks this run as one that ended clean, and ends. */
  endClean(): void {
    this.end();
    this.#options.files.endClean(this.#header);
  }

  /** The process ends, whatever it was doing. */
  end(): void {
    assert(!this.isOver, 'a process ends once');
    this.isOver = true;
    this.#ticker.stop();
    this.cluster.gossip.end();
    this.fetches.stop();
    this.answers.stop();
    this.#slots.stop();
    this.#log.stop();
    for (const pass of [...this.passes]) pass.nodeEnded();
    this.#options.world.network.endAll(this);
  }

  // What it looks like.

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

  get #clock(): number {
    return this.#options.clock.now;
  }

  #slotSent(slot: SlotId, isUnreadable: boolean): void {
    if (isUnreadable) this.node.onSlotUnreadable(this.#clock, slot);
    this.node.onSlotSent(this.#clock, slot);
    this.#afterEvent();
  }

  #admitted(slot: SlotId): void {
    const { world } = this.#options;
    const { cluster, fetches } = this;
    const lentUntil = this.#lent.until.bind(this.#lent);
    const admitting = { ...this.#options, cluster, fetches, lentUntil };
    const admission = admissionOf(admitting, this.store, slot);
    world.history.admitted(admission);
    world.checkers.admitted(admission);
  }

  #newCluster(): NodeCluster {
    const options = this.#options;
    const { world, clock, limits, nodeId, life } = options;
    return new NodeCluster({
      ...options,
      prng: new Prng(world.seed, life).stream(`gossip/${nodeId}`),
      windowMs: limits.fallbackWindowMs,
      end: this,
      onRing: (ring, replaced) => {
        this.node.onRing(clock.now, ring, replaced);
        this.#afterEvent();
      },
      onChange: (ring) => {
        world.ringAdopted({ process: 'node', id: nodeId, life }, ring);
      },
      openLinks: (nodeIds) => {
        this.fetches.openLinks(nodeIds);
      },
    });
  }

  #afterEvent(): void {
    this.#ticker.afterEvent();
    const onFlushed = this.#onFlushed;
    if (onFlushed === null || this.node.journal.levels().unflushed > 0) return;
    this.#onFlushed = null;
    this.#options.world.queue.in(0, () => {
      if (!this.isOver) onFlushed();
    });
  }
}
