/**
 * Read your writes: which objects this gateway wrote lately, so that its reads demand metadata newer than that.
 *
 * A write marks its object when it starts and again when it ends. The mark's time is a demand: metadata counts only if S3
 * gave it after that. A write whose outcome is unknown may still take effect, so its object is confirmed anew on every
 * read for a while. A mark goes once newer metadata was cached and the lifetime of anything older, at whichever home,
 * is over. When there are too many, the older half goes into one coarse mark, which holds for every object.
 *
 * Times handed out never repeat: two writes in one tick of the clock still have an order, which is what lets an answer
 * to a demand satisfy it exactly.
 *
 * Memory: about 200 bytes a mark, two generations of `maxMarks / 2`.
 */
import type { Hash128 } from '../base/hash.ts';
import { Lru } from '../base/lru.ts';

/** Below any clock's tick, above the rounding error of a time in milliseconds. */
export const clockGrainMs = 0.001;

interface WriteMark {
  time: number;
  /** Until then the write may still take effect at any moment. */
  unknownUntil: number;
  /** From then on nothing older than the write is in use anywhere; Infinity until newer metadata was cached. */
  settledAt: number;
}

export class WriteMarks {
  readonly #marksEach: number;
  readonly #seed: number;
  #recent: Lru<WriteMark>;
  #past: Lru<WriteMark>;
  /** Bounds of what the marks of a generation demand. */
  #recentUnknownUntil = -Infinity;
  #recentTime = -Infinity;
  #pastUnknownUntil = -Infinity;
  #pastTime = -Infinity;
  #coarseUnknownUntil = -Infinity;
  #coarseTime = -Infinity;
  /** The latest time that was handed out. */
  #latest = -Infinity;
  #overflows = 0;

  constructor(maxMarks: number, seed: number) {
    this.#marksEach = Math.max(1, Math.floor(maxMarks / 2));
    this.#seed = seed;
    this.#recent = new Lru(this.#marksEach, Infinity, seed);
    this.#past = new Lru(this.#marksEach, Infinity, seed);
  }

  get count(): number {
    return this.#recent.count + this.#past.count;
  }

  /** How often marks went into the coarse one. */
  get overflows(): number {
    return this.#overflows;
  }

  /** A write of the object starts or ends at `now`; until `unknownUntil` it may still take effect. */
  note(now: number, hash: Hash128, unknownUntil: number): void {
    this.#latest = Math.max(now, this.#latest + clockGrainMs);
    const earlier = this.#find(hash);
    this.#past.delete(hash);
    if (this.#recent.peek(hash) === null && this.#recent.count === this.#marksEach) this.#turn();
    const mark = {
      time: this.#latest,
      unknownUntil: Math.max(unknownUntil, earlier?.unknownUntil ?? -Infinity),
      settledAt: Infinity,
    };
    this.#recent.set(hash, mark, 0);
    this.#recentTime = mark.time;
    this.#recentUnknownUntil = Math.max(this.#recentUnknownUntil, mark.unknownUntil);
  }

  /** Whether any read may be under a demand: most of the time nothing was written lately. */
  get areSet(): boolean {
    return this.count > 0 || this.#coarseTime > -Infinity;
  }

  /** The moment that an object's metadata must be newer than, -Infinity when any will do. */
  demand(now: number, hash: Hash128): number {
    let time = this.#coarseTime;
    let unknownUntil = this.#coarseUnknownUntil;
    if (this.count > 0) {
      const mark = this.#find(hash);
      if (mark !== null) {
        if (now >= mark.settledAt) {
          this.#recent.delete(hash);
          this.#past.delete(hash);
        } else {
          time = Math.max(time, mark.time);
          unknownUntil = Math.max(unknownUntil, mark.unknownUntil);
        }
      }
    }
    if (now >= unknownUntil) return Math.max(time, unknownUntil);
    this.#latest = Math.max(now, this.#latest);
    return Math.max(time, now);
  }

  /** Metadata newer than the demand was cached. Anything older lives no longer than `lifetimeMs` after the write. */
  settle(now: number, hash: Hash128, lifetimeMs: number): void {
    if (this.count === 0) return;
    const mark = this.#find(hash);
    if (mark === null || now < mark.unknownUntil) return;
    // Immutable objects aren't written over, so nothing older is left to wait for.
    const wait = lifetimeMs === Infinity ? 0 : lifetimeMs;
    mark.settledAt = Math.max(mark.time, mark.unknownUntil) + wait;
  }

  #find(hash: Hash128): WriteMark | null {
    return this.#recent.peek(hash) ?? this.#past.peek(hash);
  }

  #turn(): void {
    if (this.#past.count > 0) {
      this.#overflows += 1;
      this.#coarseTime = Math.max(this.#coarseTime, this.#pastTime);
      this.#coarseUnknownUntil = Math.max(this.#coarseUnknownUntil, this.#pastUnknownUntil);
    }
    this.#past = this.#recent;
    this.#pastTime = this.#recentTime;
    this.#pastUnknownUntil = this.#recentUnknownUntil;
    this.#recent = new Lru(this.#marksEach, Infinity, this.#seed);
    this.#recentUnknownUntil = -Infinity;
  }
}
