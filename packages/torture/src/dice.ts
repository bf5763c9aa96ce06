/**
 * Seeded chance (mulberry32). Each purpose has a stream of its own, so that a load that went further than last time doesn't
 * change what is damaged after it.
 */

/** Mixes a text into a number, for a stream's own seed (FNV-1a). */
function mixed(seed: number, purpose: string): number {
  let hash = (seed ^ 0x811c9dc5) >>> 0;
  for (let at = 0; at < purpose.length; at++) {
    hash = Math.imul(hash ^ purpose.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash;
}

export class Dice {
  #state: number;
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
    this.#state = seed >>> 0;
  }

  /** A stream that depends on this one's seed and the purpose alone, not on what was drawn. */
  for(purpose: string): Dice {
    return new Dice(mixed(this.#seed, purpose));
  }

  /** A number in [0, 1). */
  share(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
  }

  /** An integer from 0 up to, not including, `end`. */
  below(end: number): number {
    return Math.floor(this.share() * end);
  }

  /** An integer from `first` to `last`, both included. */
  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  chance(probability: number): boolean {
    return this.share() < probability;
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)];
    if (picked === undefined) throw new Error('picked from an empty list');
    return picked;
  }

  /** One of the names, as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const names = Object.keys(weights) as K[];
    let left = this.share() * names.reduce((sum, name) => sum + weights[name], 0);
    for (const name of names) {
      left -= weights[name];
      if (left < 0) return name;
    }
    return names[0]!;
  }
}
