/** A set of slots as bits: small even if it is all of them. Made when it is needed; takes slots up to the highest one there was then. */
import type { SlotId } from './slot-records.ts';

export class SlotSet {
  readonly #bits: Int32Array;
  #size = 0;

  /** For slots below `end`. */
  constructor(end: SlotId) {
    this.#bits = new Int32Array((end + 31) >>> 5);
  }

  get size(): number {
    return this.#size;
  }

  add(slot: SlotId): void {
    const bit = 1 << (slot & 31);
    if ((this.#bits[slot >>> 5]! & bit) !== 0) return;
    this.#bits[slot >>> 5]! |= bit;
    this.#size++;
  }

  /** Takes a slot out, if it is there. */
  delete(slot: SlotId): void {
    const bit = 1 << (slot & 31);
    const word = this.#bits[slot >>> 5] ?? 0;
    if ((word & bit) === 0) return;
    this.#bits[slot >>> 5] = word & ~bit;
    this.#size--;
  }
}
