/**
 * What time it is at an origin, for signatures: S3 refuses those that are more than 15 minutes off.
 *
 * That is this machine's own time, unless the origin refuses a request and dates its refusal otherwise: then what the two clocks differ by
 * is kept. So a node whose clock is wrong costs one refused request, as SDKs do it too. Nothing else here goes by the time of day.
 */

/** Clocks that differ by less are no reason to be refused. */
const toleratedMs = 5 * 60_000;

export class OriginClock {
  readonly #wall: () => number;
  /** Told when the difference has changed: by how many ms the origin's clock is ahead of this machine's. */
  readonly #onSet: (aheadMs: number) => void;
  #aheadMs = 0;

  constructor(onSet: (aheadMs: number) => void, wall: () => number = Date.now) {
    this.#onSet = onSet;
    this.#wall = wall;
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.#wall() + this.#aheadMs;
  }

  /**
   * A request that was signed for `signedFor` was refused, at this date as the origin has it. True when that was the wrong time: the
   * request is worth another try.
   */
  refusedAt(date: string, signedFor: number): boolean {
    const theirs = Date.parse(date);
    const isOff = (time: number): boolean => Math.abs(theirs - time) >= toleratedMs;
    if (!isOff(signedFor)) return false;
    if (isOff(this.now())) {
      this.#aheadMs = theirs - this.#wall();
      this.#onSet(this.#aheadMs);
    }
    return true;
  }
}
