/**
 * One process's monotonic clock: it began at some moment of its own and runs a little fast or slow, as clocks do.
 *
 * now = (true time + offset) × (1 + drift). Drift is at most 0.1 %, so a duration measured in one process is that much off
 * at another's; nothing may depend on two processes having the same time.
 */
import type { EventQueue } from './event-queue.ts';

export class ProcessClock {
  readonly #queue: EventQueue;
  readonly #offsetMs: number;
  readonly #rate: number;

  constructor(queue: EventQueue, offsetMs: number, drift: number) {
    this.#queue = queue;
    this.#offsetMs = offsetMs;
    this.#rate = 1 + drift;
  }

  /** Milliseconds, as this process reads them. */
  get now(): number {
    return (this.#queue.now + this.#offsetMs) * this.#rate;
  }

  /** The true time at which this clock shows `time` or has just passed it. */
  trueTimeOf(time: number): number {
    const exact = time / this.#rate - this.#offsetMs;
    // A thousandth of a millisecond more than rounding could have lost.
    return exact + 0.001;
  }
}
