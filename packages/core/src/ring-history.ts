/**
 * The rings of the grace window: the current one and those that it replaced lately.
 *
 * After a change, what moved is still on its previous owners' disks. So a new owner asks those before S3, and whoever hands
 * a ring on hands its past on with it: a node that joined a minute ago knows as much of the past as one that was there.
 *
 * Invariants: newest first; versions are unique; at most `maxRings`; the first
 * is current, the others were replaced less than `windowMs` ago, none later than a newer one.
 */
import { assert } from './base/assert.ts';
import { ownerIndex, type Placement } from './placement.ts';
import type { Member, Ring } from './ring.ts';

/** The most rings that are kept and handed on, the current one included. */
export const maxRings = 8;

/** The most previous owners that are asked for a block. */
export const maxPreviousOwners = 2;

/** A ring and for how long it has been replaced: a duration, for no clock time is ever sent. */
export interface DatedRing {
  readonly ring: Ring;
  /** Milliseconds; 0 for a current ring. */
  readonly replacedForMs: number;
}

interface Kept {
  readonly ring: Ring;
  /** Infinity while it is current. */
  replacedAt: number;
}

export class RingHistory {
  readonly #windowMs: number;
  #rings: Kept[] = [];

  /** `windowMs`: how long previous owners are worth asking. */
  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** The newest ring, null before there is any. */
  get current(): Ring | null {
    return this.#rings[0]?.ring ?? null;
  }

  /** A ring that this node came to by itself. True when it is the current one now. */
  advance(now: number, ring: Ring): boolean {
    return this.adopt(now, [{ ring, replacedForMs: 0 }]);
  }

  /** Takes in somebody's rings, newest first. True when one of them is the current one now. */
  adopt(now: number, told: readonly DatedRing[]): boolean {
    const before = this.current;
    for (const [index, { ring, replacedForMs }] of told.entries()) {
      const replacedAt = index === 0 ? Infinity : now - replacedForMs;
      const known = this.#rings.find((kept) => kept.ring.version === ring.version);
      if (known === undefined) this.#rings.push({ ring, replacedAt });
      else known.replacedAt = Math.min(known.replacedAt, replacedAt);
    }
    this.#rings.sort((a, b) => b.ring.version - a.ring.version);
    // Somebody's current ring may be an old one here, and the other way round; and no ring outlived a newer one.
    let latest = now;
    for (const [index, kept] of this.#rings.entries()) {
      latest = Math.min(latest, kept.replacedAt);
      kept.replacedAt = index === 0 ? Infinity : latest;
    }
    this.#prune(now);
    return this.current !== before;
  }

  /** All rings of the window, newest first, to be handed on. */
  rings(now: number): DatedRing[] {
    this.#prune(now);
    return this.#rings.map(({ ring, replacedAt }, index) => ({
      ring,
      replacedForMs: index === 0 ? 0 : now - replacedAt,
    }));
  }

  /**
   * Writes the node ids of two that owned a placement before its present owner did, and returns how many there are: the latest, and the
   * earliest of the window. Those between are newcomers of a cluster that grows faster than it is read.
   */
  previousOwners(now: number, placement: Readonly<Placement>, into: number[]): number {
    if (this.#rings.length > 1) this.#prune(now);
    let count = 0;
    let present = -1;
    for (const { ring } of this.#rings) {
      const index = ownerIndex(ring, placement.hi, placement.lo);
      const nodeId = ring.members[index]?.nodeId ?? -1;
      if (ring === this.current) present = nodeId;
      if (nodeId < 0 || nodeId === present || (count > 0 && into[0] === nodeId)) continue;
      const last = Math.min(count, maxPreviousOwners - 1);
      into[last] = nodeId;
      count = last + 1;
    }
    return count;
  }

  /** A node as the newest ring of the window that has it knows it: where a previous owner is reached. Null when none has. */
  member(nodeId: number): Member | null {
    for (const { ring } of this.#rings) {
      const member = ring.member(nodeId);
      if (member !== null) return member;
    }
    return null;
  }

  /** When the next of the replaced rings is too old, Infinity while only the current one is kept. */
  expiresAt(now: number): number {
    this.#prune(now);
    if (this.#rings.length < 2) return Infinity;
    return this.#rings[this.#rings.length - 1]!.replacedAt + this.#windowMs;
  }

  #prune(now: number): void {
    const start = now - this.#windowMs;
    let end = 1;
    // Newer rings were replaced later, so what is too old is at the end.
    while (end < this.#rings.length && end < maxRings && this.#rings[end]!.replacedAt > start)
      end++;
    this.#rings.length = Math.min(this.#rings.length, end);
    assert(this.#rings.length <= maxRings, 'ring history: more rings than are handed on');
  }
}
