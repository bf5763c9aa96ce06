/**
 * How many MACs are checked: a flood of false packets must not cost more than this, nor keep the members' own out.
 *
 * A member that sent a valid packet from its own address before has a budget of its own; all others share one, and with it all copies of
 * packets that somebody recorded and plays back from elsewhere. An address can be forged, so a flood may use
 * up the budget of a member that it names: that member's packets get lost then, which gossip copes with, and nobody
 * else's. And there is a budget of all together.
 *
 * Memory: some 100 bytes for each of at most `maxKnown` addresses.
 */

/** A check costs 3 to 5 µs: at most some 4% of a core, whatever comes. */
const checksPerSecond = 10_000;
const strangersPerSecond = 500;
const knownPerSecond = 100;
const maxKnown = 4096;
/** A budget that wasn't used for this long may be used up at once. */
const burstSeconds = 2;

class Budget {
  readonly #perSecond: number;
  #left: number;
  #at: number;

  constructor(perSecond: number, now: number) {
    this.#perSecond = perSecond;
    this.#left = perSecond * burstSeconds;
    this.#at = now;
  }

  take(now: number): boolean {
    const earned = ((now - this.#at) / 1000) * this.#perSecond;
    this.#left = Math.min(this.#perSecond * burstSeconds, this.#left + earned);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

export class CheckBudget {
  readonly #all: Budget;
  readonly #strangers: Budget;
  /** In the order of their last valid packet: copies of one, from addresses that are made up, push out no member that speaks. */
  readonly #known = new Map<string, Budget>();

  /** `now` in milliseconds of a monotonic clock, here and below. */
  constructor(now: number) {
    this.#all = new Budget(checksPerSecond, now);
    this.#strangers = new Budget(strangersPerSecond, now);
  }

  /** Whether a packet from this address is worth a check now. */
  allows(now: number, address: string): boolean {
    const budget = this.#known.get(address) ?? this.#strangers;
    return budget.take(now) && this.#all.take(now);
  }

  /** A packet from this address was valid. */
  remember(now: number, address: string): void {
    const budget = this.#known.get(address) ?? new Budget(knownPerSecond, now);
    this.#known.delete(address);
    this.#known.set(address, budget);
    if (this.#known.size <= maxKnown) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}
