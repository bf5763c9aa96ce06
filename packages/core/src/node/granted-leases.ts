/**
 * Hot placements of this node's own, and whom it lent them to.
 *
 * ```
 * granted ─► after ¾ of leaseMs: still hot ─► granted anew, to the same nodes or to others for those that were silent
 *                             └─ no longer ─► ending ─► gone once every lease has run out
 * ```
 * Askers are told of a holder once it has accepted, and until the lease that it accepted is over by this node's clock, which is
 * before it is over by the holder's. A holder that didn't accept, or gave no report by half of its time, counts as silent: it keeps
 * its place until its lease is over, so that there are never more holders than there may be, and is passed over for a while. One that
 * refuses holds nothing: its place goes to the next candidate at once, and other leases that it has are left alone.
 *
 * Memory: about 500 bytes a lease, `maxLeases` at most.
 */
import { copyHash128, type Hash128, type U64 } from '../base/hash.ts';
import { newNodeMessage, type NodeMessage } from '../node-message.ts';
import { newHotHint, type HotHint } from '../read.ts';
import type { NodeCounters } from './counters.ts';
import type { NodeEffects } from './effects.ts';
import { reportShare } from './held-leases.ts';
import { LeaseTable, type Leased } from './lease-table.ts';
import type { NodeLimits } from './limits.ts';
import type { Ownership } from './ownership.ts';

/** The share of a lease after which it is granted anew or not: holders have reported by then. */
const renewShare = 0.75;

interface Holder {
  readonly nodeId: number;
  /** When the lease that was sent to it last is over; -Infinity when it has none. */
  until: number;
  /** The same of the one that it accepted last. */
  acceptedUntil: number;
  /** What it said of the present turn. */
  hasRefused: boolean;
  hasReported: boolean;
  reads: number;
}

/** One placement that is lent. */
export class GrantedLease implements Leased {
  readonly placement: Readonly<U64>;
  turn = 0;
  grantedAt = 0;
  /** Reads here since then. */
  reads = 0;
  isEnding = false;
  /** When the next step is due. */
  deadline = 0;
  holders: Holder[] = [];
  /** What askers are told; good until `hintUntil`. */
  readonly hint: HotHint = newHotHint();
  hintUntil = -Infinity;

  constructor({ hi, lo }: Readonly<U64>) {
    this.placement = { hi, lo };
  }
}

export class GrantedLeases {
  /** When `onTick` has something to do, Infinity for never. */
  deadline = Infinity;
  readonly #effects: Pick<NodeEffects, 'sendToNode'>;
  readonly #ownership: Ownership;
  readonly #limits: NodeLimits;
  readonly #counters: NodeCounters;
  readonly #leases: LeaseTable<GrantedLease>;
  readonly #message: NodeMessage = newNodeMessage();
  readonly #ranked: number[] = [];
  /** Until when nodes that said nothing get no lease. One entry a node that ever was. */
  readonly #silentUntil = new Map<number, number>();

  constructor(
    effects: Pick<NodeEffects, 'sendToNode'>,
    ownership: Ownership,
    limits: NodeLimits,
    counters: NodeCounters,
    seed: number,
  ) {
    this.#effects = effects;
    this.#ownership = ownership;
    this.#limits = limits;
    this.#counters = counters;
    this.#leases = new LeaseTable(limits.maxLeases, seed);
    this.#message.from = ownership.nodeId;
  }

  /** Placements that are lent. */
  get count(): number {
    return this.#leases.size;
  }

  /** The lease of a placement that is lent, null when it isn't. */
  leaseOf(hi: number, lo: number): GrantedLease | null {
    return this.#leases.find(hi, lo);
  }

  /** What is lent is read here: who else serves it, null for nobody. Good until the next call. */
  countRead(now: number, lease: GrantedLease): HotHint | null {
    lease.reads += 1;
    if (now >= lease.hintUntil) {
      if (lease.hint.nodes.length < 2) return null;
      this.#renewHint(now, lease);
      if (now >= lease.hintUntil) return null;
    }
    lease.hint.remainingMs = lease.hintUntil - now;
    return lease.hint;
  }

  /** Lends a placement that is read a lot, if it is this node's. */
  grant(now: number, placement: Readonly<U64>): void {
    if (!this.#ownership.ranksFirst(placement)) return;
    if (this.#leases.isFull) {
      this.#counters.leasesExhausted += 1;
      return;
    }
    const lease = new GrantedLease(placement);
    if (!this.#lend(now, lease)) return;
    this.#counters.leasesGranted += 1;
    this.#leases.add(lease);
    this.#schedule();
  }

  /** A holder has accepted its lease, or refused it, or reports. */
  onMessage(now: number, { kind, from, placement, turn, reads }: NodeMessage): void {
    const lease = this.#leases.find(placement.hi, placement.lo);
    const holder = lease?.holders.find(({ nodeId }) => nodeId === from);
    if (lease === null || holder === undefined || turn !== lease.turn) return;
    if (kind === 'report') {
      holder.hasReported = true;
      holder.reads = reads;
    } else if (kind === 'accepted') {
      holder.acceptedUntil = holder.until;
      this.#renewHint(now, lease);
    } else {
      this.#refused(now, lease, holder);
    }
  }

  /** A write of the object came by: whoever may hold its metadata for this home hears of it. */
  onWrite(now: number, hash: Hash128): void {
    const lease = this.#leases.find(hash.h0, hash.h1);
    if (lease === null) return;
    const message = this.#message;
    message.kind = 'written';
    copyHash128(hash, message.hash);
    for (const { nodeId, until } of lease.holders) {
      if (until > now) this.#effects.sendToNode(nodeId, message);
    }
  }

  /** Takes the steps that are due. */
  onTick(now: number): void {
    if (now < this.deadline) return;
    for (const lease of this.#leases.all) {
      if (lease.deadline > now) continue;
      if (lease.isEnding) this.#leases.delete(lease);
      else if (!this.#isStillHot(now, lease) || !this.#renew(now, lease)) end(now, lease);
    }
    this.#schedule();
  }

  /** Whether this node and the holders together have enough reads for the lease to go on. */
  #isStillHot(now: number, { reads, grantedAt, holders, placement }: GrantedLease): boolean {
    if (!this.#ownership.ranksFirst(placement)) return false;
    const { hotThreshold, hotWindowMs, leaseMs } = this.#limits;
    let readsAMs = reads / (now - grantedAt);
    for (const holder of holders) {
      if (holder.hasReported) readsAMs += holder.reads / (leaseMs * reportShare);
    }
    return readsAMs * hotWindowMs > hotThreshold / 2;
  }

  /** False when nobody is left to lend to. */
  #renew(now: number, lease: GrantedLease): boolean {
    for (const holder of lease.holders) {
      if (holder.hasReported || holder.hasRefused) continue;
      this.#silentUntil.set(holder.nodeId, now + this.#limits.leaseMs);
      holder.acceptedUntil = -Infinity;
    }
    lease.holders = lease.holders.filter(
      ({ nodeId, until, hasReported }) =>
        until > now || (hasReported && this.#ownership.hasMember(nodeId)),
    );
    this.#renewHint(now, lease);
    if (!this.#lend(now, lease)) return false;
    this.#counters.leasesRenewed += 1;
    return true;
  }

  /** Sends a lease to the holders that there are, and to the next candidates while there may be more; false for nobody. */
  #lend(now: number, lease: GrantedLease): boolean {
    const { leaseMs } = this.#limits;
    lease.turn += 1;
    lease.grantedAt = now;
    lease.reads = 0;
    lease.deadline = now + leaseMs * renewShare;
    let places = this.#placesLeft(now, lease);
    let isLent = false;
    for (const holder of lease.holders) {
      if (this.#isSilent(now, holder.nodeId) || !this.#ownership.hasMember(holder.nodeId)) continue;
      // Its lease ran out while it was passed over, and its place may be another's by now.
      const needsPlace = holder.until <= now;
      if (needsPlace && places === 0) continue;
      if (needsPlace) places -= 1;
      this.#lendTo(now, lease, holder);
      isLent = true;
    }
    lease.holders = lease.holders.filter(({ until }) => until > now);
    return this.#lendToMore(now, lease) || isLent;
  }

  /** Sends a lease to the next candidates while there may be more holders; false for nobody. */
  #lendToMore(now: number, lease: GrantedLease): boolean {
    const { hotReplicas } = this.#limits;
    const { placement, holders } = lease;
    let places = this.#placesLeft(now, lease);
    // As many again as there may be, for those that are silent.
    const count = this.#ownership.candidates(placement, 1 + 2 * hotReplicas, this.#ranked);
    let isLent = false;
    for (let rank = 1; rank < count && places > 0; rank++) {
      const nodeId = this.#ranked[rank]!;
      if (this.#isSilent(now, nodeId) || holders.some((one) => one.nodeId === nodeId)) continue;
      const holder = newHolder(nodeId);
      holders.push(holder);
      this.#lendTo(now, lease, holder);
      places -= 1;
      isLent = true;
    }
    return isLent;
  }

  /** How many more nodes may hold a lease. */
  #placesLeft(now: number, { holders }: GrantedLease): number {
    let places = this.#limits.hotReplicas;
    for (const { until } of holders) if (until > now) places -= 1;
    return places;
  }

  #lendTo(now: number, lease: GrantedLease, holder: Holder): void {
    holder.until = now + this.#limits.leaseMs;
    holder.hasRefused = false;
    holder.hasReported = false;
    this.#send(lease, holder.nodeId);
  }

  /**
   * It holds nothing of this placement. It is kept in mind until the next turn, so that this one passes it over. What has another owner
   * since a ring change is lent to nobody any more.
   */
  #refused(now: number, lease: GrantedLease, holder: Holder): void {
    this.#counters.leasesRefused += 1;
    holder.hasRefused = true;
    holder.until = -Infinity;
    holder.acceptedUntil = -Infinity;
    this.#renewHint(now, lease);
    if (lease.isEnding || !this.#ownership.ranksFirst(lease.placement)) return;
    this.#lendToMore(now, lease);
  }

  #send({ placement, turn }: GrantedLease, nodeId: number): void {
    const message = this.#message;
    message.kind = 'lease';
    message.placement.hi = placement.hi;
    message.placement.lo = placement.lo;
    message.turn = turn;
    message.leaseMs = this.#limits.leaseMs;
    this.#effects.sendToNode(nodeId, message);
  }

  #isSilent(now: number, nodeId: number): boolean {
    return (this.#silentUntil.get(nodeId) ?? -Infinity) > now;
  }

  #renewHint(now: number, lease: GrantedLease): void {
    const { nodes } = lease.hint;
    nodes.length = 1;
    nodes[0] = this.#ownership.nodeId;
    lease.hintUntil = Infinity;
    for (const { nodeId, acceptedUntil } of lease.holders) {
      if (acceptedUntil <= now) continue;
      nodes.push(nodeId);
      lease.hintUntil = Math.min(lease.hintUntil, acceptedUntil);
    }
    if (nodes.length === 1) lease.hintUntil = -Infinity;
  }

  #schedule(): void {
    this.deadline = Infinity;
    for (const lease of this.#leases.all) this.deadline = Math.min(this.deadline, lease.deadline);
  }
}

function newHolder(nodeId: number): Holder {
  const nothing = { until: -Infinity, acceptedUntil: -Infinity };
  return { nodeId, ...nothing, hasRefused: false, hasReported: false, reads: 0 };
}

/** It isn't granted anew: it is kept for as long as somebody holds it. */
function end(now: number, lease: GrantedLease): void {
  lease.isEnding = true;
  lease.deadline = now;
  for (const { until } of lease.holders) lease.deadline = Math.max(lease.deadline, until);
}
