/**
 * Draws ranks by Zipf's law in constant time and memory: rejection-inversion (Hörmann and Derflinger, 1996). The areas
 * under a smooth hat are inverted; where hat and law differ the draw is repeated, about one time in ten at worst.
 */
import type { Prng } from '@s3-accelerator/core/base/prng.ts';

export class Zipf {
  readonly #count: number;
  readonly #exponent: number;
  readonly #first: number;
  readonly #last: number;
  readonly #squeeze: number;

  /** Ranks 0 … count - 1, rank r as likely as 1 / (r + 1) ^ exponent. */
  constructor(count: number, exponent: number) {
    this.#count = count;
    this.#exponent = exponent;
    this.#first = this.#area(1.5) - 1;
    this.#last = this.#area(count + 0.5);
    this.#squeeze = 2 - this.#inverse(this.#area(2.5) - this.#law(2));
  }

  draw(prng: Prng): number {
    for (;;) {
      const u = this.#last + prng.fraction() * (this.#first - this.#last);
      const x = this.#inverse(u);
      const rank = Math.min(this.#count, Math.max(1, Math.floor(x + 0.5)));
      if (rank - x <= this.#squeeze || u >= this.#area(rank + 0.5) - this.#law(rank)) {
        return rank - 1;
      }
    }
  }

  #law(x: number): number {
    return Math.exp(-this.#exponent * Math.log(x));
  }

  /** The integral of the law from 1 to x. */
  #area(x: number): number {
    const log = Math.log(x);
    return expm1Over((1 - this.#exponent) * log) * log;
  }

  #inverse(area: number): number {
    const t = Math.max(-1, area * (1 - this.#exponent));
    return Math.exp(log1pOver(t) * area);
  }
}

/** log(1 + x) / x, also where x is nearly 0. */
function log1pOver(x: number): number {
  return Math.abs(x) > 1e-8 ? Math.log1p(x) / x : 1 - x / 2;
}

/** (e^x - 1) / x, also where x is nearly 0. */
function expm1Over(x: number): number {
  return Math.abs(x) > 1e-8 ? Math.expm1(x) / x : 1 + x / 2;
}
