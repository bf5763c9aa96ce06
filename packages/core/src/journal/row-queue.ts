/** Slots first in, first out, whose oldest ones can be looked at in a batch before they go. */
import { assert } from '../base/assert.ts';
import type { SlotId } from '../store/store.ts';

/** Slots that went are forgotten in pieces of at least this many. */
const MIN_FORGOTTEN = 1024;

export class RowQueue {
  #slots: SlotId[] = [];
  #first = 0;

  get size(): number {
    return this.#slots.length - this.#first;
  }

  push(slot: SlotId): void {
    this.#slots.push(slot);
  }

  /** The slot behind `index` older ones. */
  at(index: number): SlotId {
    assert(index >= 0 && index < this.size, 'row queue: looked past its end');
    return this.#slots[this.#first + index]!;
  }

  /** Lets the oldest `count` go. */
  drop(count: number): void {
    assert(count <= this.size, 'row queue: dropped more than there are');
    this.#first += count;
    if (this.#first < MIN_FORGOTTEN || this.#first * 2 < this.#slots.length) return;
    this.#slots = this.#slots.slice(this.#first);
    this.#first = 0;
  }
}
