/**
 * Hashes as u32 words: 128-bit identities, 64-bit placements, and the mixers between them.
 *
 * 64-bit values are two u32 halves, because BigInt mixing is some 25 times slower. The mixers are
 * good statistically and not cryptographic: identities come from SHA-256 before they get here.
 * `mix32` and `mix64` decide where blocks live, on every process of a cluster, so their results
 * never change (golden tests).
 */

/** 128 bits as four u32. */
export interface Hash128 {
  h0: number;
  h1: number;
  h2: number;
  h3: number;
}

/** 64 bits as two u32. */
export interface U64 {
  hi: number;
  lo: number;
}

/** Exact equality of all 128 bits. */
export function equalHash128(a: Readonly<Hash128>, b: Readonly<Hash128>): boolean {
  return a.h0 === b.h0 && a.h1 === b.h1 && a.h2 === b.h2 && a.h3 === b.h3;
}

/** Copies all 128 bits into a record that the caller keeps. */
export function copyHash128(from: Readonly<Hash128>, into: Hash128): void {
  into.h0 = from.h0;
  into.h1 = from.h1;
  into.h2 = from.h2;
  into.h3 = from.h3;
}

/**
 * A bijection of 32 bits in which every input bit changes every output bit half the time. Gives an
 * int32.
 */
export function mix32(x: number): number {
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return x ^ (x >>> 16);
}

/** A bijection of 64 bits: four Feistel rounds around `mix32`. Writes two u32. */
export function mix64(hi: number, lo: number, into: U64): void {
  let left = hi | 0;
  let right = lo | 0;
  left ^= mix32(right + 0x3c6ef372);
  right ^= mix32(left + 0x1f83d9ab);
  left ^= mix32(right + 0x5be0cd19);
  right ^= mix32(left + 0x510e527f);
  into.hi = left >>> 0;
  into.lo = right >>> 0;
}

/**
 * Spreads 32 hashed bits evenly over [0, count): the high half of the product. `count` is at most
 * 2^20.
 */
export function spread(hash: number, count: number): number {
  return Math.floor(((hash >>> 0) * count) / 0x1_0000_0000);
}

/** 32 bits of a text, as an int32. */
export function hashText(text: string): number {
  let hash = text.length;
  for (let i = 0; i < text.length; i++) hash = mix32(hash ^ text.charCodeAt(i));
  return hash;
}
