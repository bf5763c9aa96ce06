/** Zipf's law with s = 1: the second most popular is read half as often as the first, the third a third as often. */
import type { Prng } from '@s3-accelerator/core/base/prng.ts';

export class Popularity {
  /** The sum of the weights up to each rank. */
  readonly #sums: Float64Array;

  /** Over ranks 0 to `count` − 1. */
  constructor(count: number) {
    this.#sums = new Float64Array(count);
    let sum = 0;
    for (let rank = 0; rank < count; rank++) {
      sum += 1 / (rank + 1);
      this.#sums[rank] = sum;
    }
  }

  /** Draws a rank. */
  draw(prng: Prng): number {
    const sums = this.#sums;
    const wanted = prng.fraction() * sums[sums.length - 1]!;
    let low = 0;
    let high = sums.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sums[middle]! > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
