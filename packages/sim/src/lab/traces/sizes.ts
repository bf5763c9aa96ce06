/**
 * Sizes that are spread evenly by their logarithm, with arithmetic that gives the same bits in every engine.
 *
 * Math.pow may differ between engines. A square root may not, and repeated roots of two give every binary digit of an
 * exponent.
 */
import type { Prng } from '@s3-accelerator/core/base/prng.ts';

const DIGITS = 32;
/** 2^(1/2), 2^(1/4), 2^(1/8), … */
const ROOTS = rootsOfTwo();

function rootsOfTwo(): readonly number[] {
  const roots: number[] = [];
  let root = 2;
  for (let digit = 0; digit < DIGITS; digit++) {
    root = Math.sqrt(root);
    roots.push(root);
  }
  return roots;
}

/** A size between two powers of two, in bytes: as many of each doubling as of the next. */
export function logUniform(prng: Prng, fromLog2: number, toLog2: number): number {
  let result = 2 ** (fromLog2 + prng.below(toLog2 - fromLog2));
  const exponent = prng.u32();
  for (let digit = 0; digit < DIGITS; digit++) {
    if ((exponent >>> (DIGITS - 1 - digit)) % 2 === 1) result *= ROOTS[digit]!;
  }
  return Math.floor(result);
}

/** Sizes between two powers of two until they are `totalBytes` together. */
export function sizesOf(
  prng: Prng,
  totalBytes: number,
  fromLog2: number,
  toLog2: number,
): readonly number[] {
  const sizes: number[] = [];
  for (let bytes = 0; bytes < totalBytes; bytes += sizes.at(-1)!) {
    sizes.push(logUniform(prng, fromLog2, toLog2));
  }
  return sizes;
}
