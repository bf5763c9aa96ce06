/**
 * Hot keys: a placement that is read more than one node can serve is lent to the next candidates for a while, and gateways spread its
 * reads over them all.
 *
 * 1. The owner counts reads (read-counts.ts). A placement with `hotThreshold` reads in one window is lent to the next `hotReplicas`
 *    candidates for `leaseMs` (granted-leases.ts).
 * 2. They accept, and the owner's answers carry a hint to whoever asks: these nodes, for so long.
 * 3. A holder gets what it lacks from the owner, once, and stores it (held-leases.ts, handovers.ts). Half-way it reports how much it
 *    was read.
 * 4. While all of them together have more than half of the threshold, the owner renews. Otherwise the leases run out, and what was
 *    stored under them goes first.
 *
 * A lease is leave to store, not truth: metadata is as old at a holder as it was at the owner, and is confirmed by the same rules. A
 * write is told to holders, and whoever demands metadata that is newer than its own write gets it, told or not.
 */
import type { Hash128, U64 } from '../base/hash.ts';
import type { Layout } from '../layout.ts';
import type { NodeMessage } from '../node-message.ts';
import type { HotHint, ReadRequest } from '../read.ts';
import type { NodeCounters } from './counters.ts';
import type { NodeEffects } from './effects.ts';
import { GrantedLeases } from './granted-leases.ts';
import { HeldLeases } from './held-leases.ts';
import type { NodeLimits } from './limits.ts';
import type { Ownership } from './ownership.ts';
import { ReadCounts } from './read-counts.ts';

export class HotKeys {
  readonly granted: GrantedLeases;
  readonly held: HeldLeases;
  readonly #ownership: Ownership;
  readonly #layout: Layout;
  readonly #counts: ReadCounts;
  readonly #threshold: number;

  constructor(
    effects: Pick<NodeEffects, 'sendToNode'>,
    ownership: Ownership,
    layout: Layout,
    limits: NodeLimits,
    counters: NodeCounters,
    { hi, lo }: Readonly<U64>,
  ) {
    this.#ownership = ownership;
    this.#layout = layout;
    this.#counts = new ReadCounts(limits.hotWindowMs, lo);
    this.#threshold = limits.hotReplicas === 0 ? Infinity : limits.hotThreshold;
    this.granted = new GrantedLeases(effects, ownership, limits, counters, hi);
    this.held = new HeldLeases(effects, ownership, limits, counters, hi);
  }

  /** A gateway's read comes: counts it, and lends its placement if that makes it hot. Who serves it too, null for nobody. */
  onRead(now: number, request: ReadRequest): HotHint | null {
    const placement = this.#placementOf(request);
    if (placement === null) return null;
    const { hi, lo } = placement;
    const lease = this.granted.leaseOf(hi, lo);
    if (lease !== null) return this.granted.countRead(now, lease);
    if (this.held.countRead(hi, lo)) return null;
    // Exactly: one that can't be lent is tried once a window.
    if (this.#counts.count(now, hi, lo) === this.#threshold) this.granted.grant(now, placement);
    return null;
  }

  onMessage(now: number, message: NodeMessage): void {
    if (message.kind === 'lease') this.held.onLease(now, message);
    else this.granted.onMessage(now, message);
  }

  onWrite(now: number, hash: Hash128): void {
    this.granted.onWrite(now, hash);
  }

  /** When `onTick` is due, Infinity while nothing is lent. */
  get deadline(): number {
    return Math.min(this.granted.deadline, this.held.deadline);
  }

  onTick(now: number): void {
    this.granted.onTick(now);
    this.held.onTick(now);
  }

  /** What a read is about, null when it makes no sense. Good until the next call. */
  #placementOf({ kind, hash, first, size }: ReadRequest): Readonly<U64> | null {
    if (kind === 'lookup') return this.#ownership.placementOfHome(hash);
    if (!(first >= 0 && first < size)) return null;
    return this.#ownership.placementOf(hash, size, this.#layout.blockOf(first));
  }
}
