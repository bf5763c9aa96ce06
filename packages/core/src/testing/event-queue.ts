/** A clock and what is to happen, in order of time and then of scheduling. Deterministic: the only time in the tests. */
import { assert } from '../base/assert.ts';
import { TimeHeap, type Timed } from './time-heap.ts';

interface Scheduled extends Timed {
  readonly act: () => void;
}

export class EventQueue {
  now = 0;
  readonly #heap = new TimeHeap<Scheduled>();
  #order = 0;

  get size(): number {
    return this.#heap.size;
  }

  /** The time of the next event, Infinity when there is none. */
  get next(): number {
    return this.#heap.next;
  }

  /** `act` happens in `delayMs`, never before this call has returned. */
  in(delayMs: number, act: () => void): void {
    this.at(this.now + delayMs, act);
  }

  at(time: number, act: () => void): void {
    assert(time >= this.now, 'nothing happens in the past');
    this.#order += 1;
    this.#heap.push({ time, order: this.#order, act });
  }

  /** Lets the next event happen; false when there is none. */
  step(): boolean {
    const event = this.#heap.pop();
    if (event === null) return false;
    this.now = event.time;
    event.act();
    return true;
  }
}
