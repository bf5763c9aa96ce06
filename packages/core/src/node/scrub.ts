/**
 * Verifies everything that is stored, slot by slot, spread evenly over the scrub interval: a drive that loses bits between
 * two runs' ends is noticed here, or not at all.
 *
 * One block at a time, never one that is being written. When a comparison takes longer than its share of the interval the
 * next one follows at once, and no slower pace is made up for later.
 */
import type { SlotId, Store } from '../store/store.ts';
import type { Verification } from './verification.ts';

/** Slots looked at in one event, for one that can be compared. */
const MAX_LOOKS = 4096;

export class Scrub {
  readonly #store: Store;
  readonly #verification: Verification;
  readonly #intervalMs: number;
  #next: SlotId = 1;
  #comparing: SlotId | null = null;
  /** When it went on last, and how many slots it looked at then. */
  #wentOnAt = 0;
  #looks = 1;

  /** `intervalMs` is how long it takes to go through all slots once; Infinity for never. */
  constructor(store: Store, verification: Verification, intervalMs: number) {
    this.#store = store;
    this.#verification = verification;
    this.#intervalMs = intervalMs;
  }

  /** When `onTick` has something to do, Infinity while a comparison is under way. Comes closer as the store fills up. */
  get deadline(): number {
    if (this.#comparing !== null) return Infinity;
    return this.#wentOnAt + (this.#intervalMs * this.#looks) / Math.max(1, this.#store.end - 1);
  }

  /** Begins the next comparison if it is due. */
  onTick(now: number): void {
    if (now < this.deadline) return;
    const { end } = this.#store;
    const limit = Math.min(MAX_LOOKS, end - 1);
    this.#wentOnAt = now;
    for (this.#looks = 0; this.#looks < limit && this.#comparing === null; this.#looks++) {
      if (this.#next >= end) this.#next = 1;
      if (this.#verification.scrub(this.#next)) this.#comparing = this.#next;
      this.#next += 1;
    }
    this.#looks = Math.max(1, this.#looks);
  }

  /** A comparison ended; the next one may be due. */
  onVerified(now: number, slot: SlotId): void {
    if (slot !== this.#comparing) return;
    this.#comparing = null;
    this.onTick(now);
  }
}
