/**
 * A base-2 logarithm that gives the same bits in every engine.
 *
 * `Math.log2` may differ between engines, and nodes that disagree about a weighted score disagree
 * about who owns a chunk. This one uses only +, −, × and ÷, which IEEE 754 and ECMAScript fix to
 * the bit. Accurate to about 1e-15.
 */
import { assert } from './assert.ts';

/** 2 / ln 2, rounded once, here. */
const TWO_OVER_LN_2 = 2.8853900817779268;
/** Odd powers up to s^23: the term after that is below 1e-18 for |s| ≤ 0.172. */
const LAST_TERM = 23;
const SQRT_2 = 1.4142135623730951;

/** log2 of a positive finite number between 2^-64 and 2^64. */
export function log2(x: number): number {
  assert(x >= 5e-20 && x <= 2e19, 'log2: out of range');
  let exponent = 0;
  // Halving and doubling are exact.
  while (x > SQRT_2) {
    x /= 2;
    exponent++;
  }
  while (x < SQRT_2 / 2) {
    x *= 2;
    exponent--;
  }
  // ln x = 2 (s + s³/3 + s⁵/5 + …) with s = (x − 1) / (x + 1).
  const s = (x - 1) / (x + 1);
  const square = s * s;
  let sum = 0;
  for (let power = LAST_TERM; power >= 1; power -= 2) sum = sum * square + 1 / power;
  return exponent + TWO_OVER_LN_2 * s * sum;
}
