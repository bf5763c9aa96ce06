/**
 * The one clock of a run and all that is to happen, in order of time and then of scheduling.
 *
 * Time is in milliseconds, true time: clocks of processes are derived from it (process-clock.ts) and no checker ever sees
 * those. Nothing happens within a call of `in` or `at`, so whatever schedules is never called back.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import { TimeHeap, type Timed } from '@s3-accelerator/core/testing/time-heap.ts';

interface Scheduled extends Timed {
  readonly act: () => void;
  readonly isBusy: boolean;
}

export class EventQueue {
  #now = 0;
  #order = 0;
  #busy = 0;
  readonly #heap = new TimeHeap<Scheduled>();

  get now(): number {
    return this.#now;
  }

  /** How many events are still to happen that are more than a process looking at its deadlines. */
  get busy(): number {
    return this.#busy;
  }

  /** The time of the next event, Infinity when there is none. */
  get next(): number {
    return this.#heap.next;
  }

  /** `act` happens in `delayMs`, never before this call has returned. */
  in(delayMs: number, act: () => void): void {
    this.at(this.#now + delayMs, act);
  }

  at(time: number, act: () => void): void {
    this.#busy += 1;
    this.#schedule(time, act, true);
  }

  /** The same for a process that looks at its deadlines: some have one for ever. */
  lookAt(time: number, act: () => void): void {
    this.#schedule(time, act, false);
  }

  /** Lets the next event happen; false when there is none. */
  step(): boolean {
    const event = this.#heap.pop();
    if (event === null) return false;
    this.#now = event.time;
    if (event.isBusy) this.#busy -= 1;
    event.act();
    return true;
  }

  /** Lets everything happen that is due up to `time`, which it is afterwards. */
  runTo(time: number): void {
    while (this.next <= time) this.step();
    this.#now = Math.max(this.#now, time);
  }

  #schedule(time: number, act: () => void, isBusy: boolean): void {
    assert(time >= this.#now, 'nothing happens in the past');
    this.#order += 1;
    this.#heap.push({ time, order: this.#order, act, isBusy });
  }
}
