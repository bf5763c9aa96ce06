/**
 * Placements that other nodes own and lent to this one: it serves them, gets what it lacks from their owners once, and stores it.
 *
 * A lease lasts from its arrival, by this node's clock. It is accepted at once, and half-way the reads are reported; a lease that comes
 * meanwhile takes its place. It ends by itself, and then the blocks that were stored under it go first. One that isn't taken is refused
 * at once: whoever says so holds none of that placement.
 *
 * Memory: about 200 bytes a lease, `maxLeases` at most.
 */
import type { U64 } from '../base/hash.ts';
import { newNodeMessage, type NodeMessage } from '../node-message.ts';
import type { NodeCounters } from './counters.ts';
import type { NodeEffects } from './effects.ts';
import { LeaseTable, type Leased } from './lease-table.ts';
import type { NodeLimits } from './limits.ts';
import type { Ownership } from './ownership.ts';

/** The share of a lease after which its reads are reported. */
export const reportShare = 0.5;

interface HeldLease extends Leased {
  /** The owner that lent it. */
  owner: number;
  turn: number;
  endsAt: number;
  /** Infinity once the report is out. */
  reportAt: number;
  reads: number;
}

export class HeldLeases {
  /** When `onTick` has something to do, Infinity for never. */
  deadline = Infinity;
  readonly #effects: Pick<NodeEffects, 'sendToNode'>;
  readonly #ownership: Ownership;
  readonly #counters: NodeCounters;
  readonly #leases: LeaseTable<HeldLease>;
  readonly #message: NodeMessage = newNodeMessage();

  constructor(
    effects: Pick<NodeEffects, 'sendToNode'>,
    ownership: Ownership,
    limits: NodeLimits,
    counters: NodeCounters,
    seed: number,
  ) {
    this.#effects = effects;
    this.#ownership = ownership;
    this.#counters = counters;
    this.#leases = new LeaseTable(limits.maxLeases, seed);
    this.#message.from = ownership.nodeId;
  }

  get count(): number {
    return this.#leases.size;
  }

  /** Counts a read of a placement that this node holds a lease of; false when it holds none. */
  countRead(hi: number, lo: number): boolean {
    const lease = this.#leases.find(hi, lo);
    if (lease === null) return false;
    lease.reads += 1;
    return true;
  }

  /** Whether this node holds a lease of a placement. */
  holds(now: number, hi: number, lo: number): boolean {
    const lease = this.#leases.find(hi, lo);
    return lease !== null && lease.endsAt > now;
  }

  /** The owner that lent a placement to this node, -1 when it holds no lease of it. */
  lenderOf(now: number, { hi, lo }: Readonly<U64>): number {
    return this.holds(now, hi, lo) ? this.#leases.find(hi, lo)!.owner : -1;
  }

  /** An owner lends a placement. Refused if this node owns it itself, by the ring that it knows, or holds too many. */
  onLease(now: number, message: NodeMessage): void {
    const { placement, from, turn, leaseMs } = message;
    const { hi, lo } = placement;
    const held = this.#leases.find(hi, lo);
    if (this.#ownership.ranksFirst(placement)) {
      if (held !== null) this.#end(now, held);
      this.#refuse(message);
      return;
    }
    if (held === null && this.#leases.isFull) {
      this.#counters.leasesExhausted += 1;
      this.#refuse(message);
      return;
    }
    const lease = held ?? newLease(message);
    if (held === null) this.#leases.add(lease);
    this.#counters.leasesTaken += 1;
    lease.owner = from;
    lease.turn = turn;
    lease.endsAt = now + leaseMs;
    lease.reportAt = now + leaseMs * reportShare;
    lease.reads = 0;
    this.#tell('accepted', lease);
    this.#schedule();
  }

  /** Reports what is due, and lets go what is over. */
  onTick(now: number): void {
    if (now < this.deadline) return;
    for (const lease of this.#leases.all) {
      if (lease.reportAt <= now) {
        lease.reportAt = Infinity;
        this.#tell('report', lease);
      }
      if (lease.endsAt > now) continue;
      this.#end(now, lease);
    }
    this.#schedule();
  }

  #refuse(message: NodeMessage): void {
    this.#tell('refused', newLease(message));
  }

  #end(now: number, lease: HeldLease): void {
    this.#counters.leasesLapsed += 1;
    this.#leases.delete(lease);
    this.#ownership.keptForAnother(now);
  }

  #tell(
    kind: 'accepted' | 'refused' | 'report',
    { placement, owner, turn, reads }: HeldLease,
  ): void {
    const message = this.#message;
    message.kind = kind;
    message.placement.hi = placement.hi;
    message.placement.lo = placement.lo;
    message.turn = turn;
    message.reads = reads;
    this.#effects.sendToNode(owner, message);
  }

  #schedule(): void {
    this.deadline = Infinity;
    for (const { reportAt, endsAt } of this.#leases.all) {
      this.deadline = Math.min(this.deadline, reportAt, endsAt);
    }
  }
}

function newLease({ placement: { hi, lo }, from, turn }: NodeMessage): HeldLease {
  return { placement: { hi, lo }, owner: from, turn, endsAt: 0, reportAt: 0, reads: 0 };
}
