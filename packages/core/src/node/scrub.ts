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
/** The longest pause, so that a store that fills up is noticed. */
const MAX_PAUSE_MS = 60_000;

export class Scrub {
  readonly #store: Store;
  readonly #verification: Verification;
  readonly #intervalMs: number;
  #next: SlotId = 1;
  #comparing: SlotId | null = null;
  #dueAt: number;

  /** `intervalMs` is how long it takes to go through all slots once; Infinity for never. */
  constructor(store: Store, verification: Verification, intervalMs: number) {
    this.#store = store;
    this.#verification = verification;
    this.#intervalMs = intervalMs;
    this.#dueAt = intervalMs === Infinity ? Infinity : 0;
  }

  /** When `onTick` has something to do, Infinity while a comparison is under way. */
  get deadline(): number {
    return this.#comparing === null ? this.#dueAt : Infinity;
  }

  /** Begins the next comparison if it is due. */
  onTick(now: number): void {
    if (now < this.deadline) return;
    const { end } = this.#store;
    const share = this.#intervalMs / Math.max(1, end - 1);
    let looks = 0;
    for (; looks < Math.min(MAX_LOOKS, end - 1) && this.#comparing === null; looks++) {
      if (this.#next >= end) this.#next = 1;
      if (this.#verification.scrub(this.#next)) this.#comparing = this.#next;
      this.#next += 1;
    }
    this.#dueAt = now + Math.min(MAX_PAUSE_MS, share * Math.max(1, looks));
  }

  /** A comparison ended; the next one may be due. */
  onVerified(now: number, slot: SlotId): void {
    if (slot !== this.#comparing) return;
    this.#comparing = null;
    this.onTick(now);
  }
}
