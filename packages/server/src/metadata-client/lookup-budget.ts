/**
 * How often key ids that nobody has seen before may be asked about: so many a second, and a burst.
 *
 * Anybody can invent key ids. Without this, each invented one would be a request to the metadata service.
 */
export class LookupBudget {
  readonly #perSecond: number;
  readonly #burst: number;
  #left: number;
  #filledAt = 0;

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#left = burst;
  }

  /** Takes one; false when none is left. `now` is monotonic, in milliseconds. */
  take(now: number): boolean {
    const grown = ((now - this.#filledAt) * this.#perSecond) / 1000;
    this.#left = Math.min(this.#burst, this.#left + Math.max(0, grown));
    this.#filledAt = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
