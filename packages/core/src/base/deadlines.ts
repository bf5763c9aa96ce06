/**
 * Deadlines of a pool's records: a binary heap that knows each key's place, so a deadline can move
 * or go.
 *
 * Core has no timers: a machine returns `next()` from nextDeadline() and takes what is due in
 * onTick(now). Removing is exact, so finished reads leave nothing behind however long their
 * timeouts are.
 *
 * Keys are ints in [0, capacity), usually `slotOf(id)`. Equal times come in an order that depends
 * on history alone. Memory: 16 bytes a key of capacity.
 */
import { assert } from './assert.ts';

/** `takeDue` found nothing. */
export const NONE_DUE = -1;

export class Deadlines {
  readonly #times: Float64Array;
  /**
   * The heap of keys; #places[key] is the key's index in it plus one, 0 when it has no deadline.
   */
  readonly #heap: Int32Array;
  readonly #places: Int32Array;
  #count = 0;

  constructor(capacity: number) {
    this.#times = new Float64Array(capacity);
    this.#heap = new Int32Array(capacity);
    this.#places = new Int32Array(capacity);
  }

  get count(): number {
    return this.#count;
  }

  /** Gives the key this deadline (milliseconds), in place of the one it may have. */
  set(key: number, time: number): void {
    assert(key >= 0 && key < this.#places.length, 'deadlines: key out of range');
    assert(!Number.isNaN(time), 'deadlines: time is not a number');
    this.#times[key] = time;
    let at = this.#places[key]! - 1;
    if (at < 0) at = this.#count++;
    this.#settle(key, at);
  }

  /** Takes the key's deadline away, if it has one. */
  clear(key: number): void {
    const at = this.#places[key]! - 1;
    if (at < 0) return;
    this.#places[key] = 0;
    const last = this.#heap[--this.#count]!;
    if (last !== key) this.#settle(last, at);
  }

  /** The earliest deadline in milliseconds; Infinity when there is none. */
  next(): number {
    return this.#count === 0 ? Infinity : this.#times[this.#heap[0]!]!;
  }

  /** Takes the earliest key whose deadline is at or before `now`; `NONE_DUE` when there is none. */
  takeDue(now: number): number {
    if (this.#count === 0) return NONE_DUE;
    const key = this.#heap[0]!;
    if (this.#times[key]! > now) return NONE_DUE;
    this.clear(key);
    return key;
  }

  /** Puts a key at the place in the heap that its time asks for, starting from a free place. */
  #settle(key: number, at: number): void {
    const time = this.#times[key]!;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = this.#heap[parent]!;
      if (this.#times[above]! <= time) break;
      this.#place(above, at);
      at = parent;
    }
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#count) break;
      if (
        child + 1 < this.#count &&
        this.#times[this.#heap[child + 1]!]! < this.#times[this.#heap[child]!]!
      ) {
        child++;
      }
      const below = this.#heap[child]!;
      if (this.#times[below]! >= time) break;
      this.#place(below, at);
      at = child;
    }
    this.#place(key, at);
  }

  #place(key: number, at: number): void {
    this.#heap[at] = key;
    this.#places[key] = at + 1;
  }
}
