/**
 * Whether the loops of a process turn: each says when it did last, in a word of shared memory, and the first one looks when it is asked
 * whether the process can serve. A loop that is blocked can't say so itself, and the kernel goes on handing it connections.
 *
 * Times are milliseconds of the process's clock, modulo 2^32.
 */

/** How long a loop that turns may say nothing: many times as long as its own pace. */
export const standstillMs = 3000;

export class Heartbeats {
  readonly #beats: Int32Array;

  /** Shared, a word for each loop. */
  constructor(beats: Int32Array) {
    this.#beats = beats;
  }

  /** This loop turns. */
  beat(loop: number, now: number): void {
    Atomics.store(this.#beats, loop, Math.floor(now) | 0);
  }

  /** Whether a loop that has begun to turn doesn't any more. */
  standsStill(loop: number, now: number): boolean {
    const silentMs = (Math.floor(now) - Atomics.load(this.#beats, loop)) | 0;
    return silentMs > standstillMs;
  }
}
