/**
 * The one clock of a run and all that is to happen, in order of time and then of scheduling.
 *
 * Time is in milliseconds, true time: clocks of processes are derived from it (process-clock.ts) and no checker ever sees
 * those. Nothing happens within a call of `in` or `at`, so whatever schedules is never called back.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';

interface Scheduled {
  readonly time: number;
  readonly order: number;
  readonly act: () => void;
  readonly isBusy: boolean;
}

export class EventQueue {
  #now = 0;
  #order = 0;
  #busy = 0;
  readonly #heap: Scheduled[] = [];

  get now(): number {
    return this.#now;
  }

  /** How many events are still to happen that are more than a process looking at its deadlines. */
  get busy(): number {
    return this.#busy;
  }

  /** The time of the next event, Infinity when there is none. */
  get next(): number {
    return this.#heap[0]?.time ?? Infinity;
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
    const event = this.#pop();
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
    this.#push({ time, order: this.#order, act, isBusy });
  }

  #push(event: Scheduled): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): Scheduled | null {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) return null;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Scheduled, b: Scheduled): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order);
}
