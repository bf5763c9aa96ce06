/**
 * Where this node stands among the rings: the placements of blocks, which of them it owns, and who owned them before.
 *
 * The rings that were replaced within the fallback window count too: what moved here is still with its previous owners, and what
 * moved away is still asked for here.
 */
import type { Hash128 } from '../base/hash.ts';
import { candidates, ownerIndex, placeBlock, placeHome, type Placement } from '../placement.ts';
import type { Layout } from '../layout.ts';
import { RingHistory, type DatedRing } from '../ring-history.ts';
import type { Ring } from '../ring.ts';

export class Ownership {
  #ring: Ring;
  /** The moment from which some blocks may be nobody's business here any more, Infinity when there is none. */
  recheckAt = Infinity;
  readonly nodeId: number;
  readonly #history: RingHistory;
  readonly #layout: Layout;
  readonly #standInMs: number;
  readonly #placement: Placement = { hi: 0, lo: 0 };
  readonly #previous: number[] = [];

  /**
   * `fallbackWindowMs`: how long previous owners are asked, and are ready to be. `standInMs`: after how long without a read that says
   * otherwise the node that this one stood in for counts as back.
   */
  constructor(
    ring: Ring,
    nodeId: number,
    layout: Layout,
    fallbackWindowMs: number,
    standInMs: number,
  ) {
    this.#ring = ring;
    this.#history = new RingHistory(fallbackWindowMs);
    this.#history.advance(0, ring);
    this.nodeId = nodeId;
    this.#layout = layout;
    this.#standInMs = standInMs;
  }

  /** Places by a newer ring from now on; `replaced` are those before it, newest first, as far as they are known. */
  setRing(now: number, ring: Ring, replaced: readonly DatedRing[]): void {
    this.#history.adopt(now, [{ ring, replacedForMs: 0 }, ...replaced]);
    this.#ring = this.#history.current ?? ring;
    this.recheckAt = Math.min(this.recheckAt, this.#history.expiresAt(now));
  }

  /** Whether this node is a member of the ring: else it only serves what it has. */
  get isMember(): boolean {
    return this.hasMember(this.nodeId);
  }

  hasMember(nodeId: number): boolean {
    return this.#ring.member(nodeId) !== null;
  }

  /** Writes the node ids that rank first for a placement, its owner's first, at most `count`; returns how many there are. */
  candidates(placement: Readonly<Placement>, count: number, into: number[]): number {
    return candidates(this.#ring, placement, count, into);
  }

  /** The placement that a block is ranked by; good until the next call. */
  placementOf(hash: Hash128, size: number, block: number): Readonly<Placement> {
    placeBlock(this.#layout, hash, size, block, this.#placement);
    return this.#placement;
  }

  /** The placement that an object's home is ranked by; good until the next call. */
  placementOfHome(hash: Hash128): Readonly<Placement> {
    placeHome(hash, this.#placement);
    return this.#placement;
  }

  /** Whether this node ranks first for a placement. */
  ranksFirst({ hi, lo }: Readonly<Placement>): boolean {
    const index = ownerIndex(this.#ring, hi, lo);
    return index >= 0 && this.#ring.members[index]!.nodeId === this.nodeId;
  }

  /** Whether this node ranks first for a block. */
  owns(hash: Hash128, size: number, block: number): boolean {
    return this.ranksFirst(this.placementOf(hash, size, block));
  }

  /**
   * Whether a block that this node fetches may be stored here: it owns the block, or it `standsIn` as the home of the object and the
   * block is one of the home's.
   */
  stores(now: number, hash: Hash128, size: number, block: number, standsIn: boolean): boolean {
    if (this.owns(hash, size, block)) return true;
    if (!standsIn || !this.#layout.isOnHome(size, block)) return false;
    this.keptForAnother(now);
    return true;
  }

  /** Something is stored here that another node owns: one that failed, or that lent it. */
  keptForAnother(now: number): void {
    this.recheckAt = Math.min(this.recheckAt, now + this.#standInMs);
  }

  /**
   * Writes the nodes that owned a placement of this node's before it did, the latest first, and returns how many there are: at
   * most two, and none for a placement that this node doesn't own.
   */
  previousOwners(now: number, placement: Readonly<Placement>, into: number[]): number {
    if (!this.ranksFirst(placement)) return 0;
    return this.#history.previousOwners(now, placement, into);
  }

  /** Whether somebody else owned a placement of this node's within the window. */
  hasPreviousOwner(now: number, placement: Readonly<Placement>): boolean {
    return this.previousOwners(now, placement, this.#previous) > 0;
  }

  /** Whether blocks of a placement are this node's, or were within the window. */
  keeps(now: number, hi: number, lo: number): boolean {
    const placement = this.#placement;
    placement.hi = hi;
    placement.lo = lo;
    if (this.ranksFirst(placement)) return true;
    const count = this.#history.previousOwners(now, placement, this.#previous);
    for (let i = 0; i < count; i++) if (this.#previous[i] === this.nodeId) return true;
    return false;
  }

  /** All blocks are about to be looked at: the next time is when the next ring leaves the window. */
  recheckBegins(now: number): void {
    this.recheckAt = this.#history.expiresAt(now);
  }
}
