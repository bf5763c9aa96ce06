/**
 * When a step's requests are due. In a closed loop whenever a connection is free; at a fixed rate at even intervals from the
 * start, whatever became of the requests before. A request that is sent late keeps the moment it was due: the time it
 * waited is part of its latency (no coordinated omission).
 *
 * All moments are milliseconds of performance.now.
 */

export interface PaceOptions {
  readonly start: number;
  /** Requests due from here on are measured; those before warm up. */
  readonly recordAt: number;
  /** None is due from here on; Infinity without a duration. */
  readonly endAt: number;
  /** Measured requests at most; Infinity without a count. */
  readonly requests: number;
  /** Between two requests; 0 for a closed loop. */
  readonly intervalMs: number;
}

export class Pace {
  readonly #options: PaceOptions;
  readonly isClosedLoop: boolean;
  #taken = 0;
  #measured = 0;
  #isStopped = false;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.isClosedLoop = options.intervalMs === 0;
  }

  /** Takes the next request if it is due: the moment it was, or NaN. */
  take(now: number): number {
    const dueAt = this.isClosedLoop ? now : this.nextAt;
    if (dueAt > now || this.#isOverAt(dueAt)) return Number.NaN;
    this.#taken++;
    if (dueAt >= this.#options.recordAt) this.#measured++;
    return dueAt;
  }

  /** When the next request of a fixed rate is due. */
  get nextAt(): number {
    return this.#options.start + this.#taken * this.#options.intervalMs;
  }

  /** Whether no request will be due any more. */
  isOver(now: number): boolean {
    return this.#isOverAt(this.isClosedLoop ? now : this.nextAt);
  }

  /** How many requests were due by now and never taken. */
  overdue(now: number): number {
    if (this.isClosedLoop || this.#isStopped) return 0;
    const { start, endAt, intervalMs, requests } = this.#options;
    const due = Math.ceil((Math.min(now, endAt) - start) / intervalMs);
    return Math.max(0, Math.min(due - this.#taken, requests - this.#measured));
  }

  /** Nothing is due from now on. */
  stop(): void {
    this.#isStopped = true;
  }

  #isOverAt(dueAt: number): boolean {
    const { endAt, requests } = this.#options;
    return this.#isStopped || dueAt >= endAt || this.#measured >= requests;
  }
}
