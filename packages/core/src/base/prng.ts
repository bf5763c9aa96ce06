/**
 * The only randomness in core: sfc32, seeded from outside, one stream for each purpose.
 *
 * A purpose of its own keeps runs comparable: drawing once more for delays doesn't shift what the
 * workload draws.
 */
import { assert } from './assert.ts';
import { mix32 } from './hash.ts';

/** How many draws a fresh stream throws away, so that similar seeds don't begin alike. */
const WARM_UP_DRAWS = 16;

export class Prng {
  readonly #seedHi: number;
  readonly #seedLo: number;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seedHi: number, seedLo: number) {
    this.#seedHi = seedHi | 0;
    this.#seedLo = seedLo | 0;
    this.#a = seedHi | 0;
    this.#b = seedLo | 0;
    this.#c = mix32(seedHi ^ mix32(seedLo));
    for (let draw = 0; draw < WARM_UP_DRAWS; draw++) this.u32();
  }

  /**
   * A stream of its own for a purpose: the same for the same seed, whatever was drawn here before.
   */
  stream(purpose: string): Prng {
    let hi = this.#seedHi;
    let lo = this.#seedLo;
    for (let i = 0; i < purpose.length; i++) {
      hi = mix32(hi ^ purpose.charCodeAt(i));
      lo = mix32(lo + hi);
    }
    return new Prng(hi, lo);
  }

  /** The next 32 bits, as a u32. */
  u32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** An integer in [0, count), evenly; `count` from 1 to 2^32. */
  below(count: number): number {
    assert(count >= 1 && count <= 0x1_0000_0000, 'prng: count out of range');
    return Math.floor((this.u32() * count) / 0x1_0000_0000);
  }

  /** One of the choices, evenly; there is at least one. */
  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** A number in [0, 1) in steps of 2^-32. */
  fraction(): number {
    return this.u32() / 0x1_0000_0000;
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }
}
