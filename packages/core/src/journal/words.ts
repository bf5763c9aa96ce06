/**
 * Files hold little-endian words, and the formats read and write them through Int32Array views, in place. That is right
 * only where the machine is little-endian too, as x86-64 and arm64 are: checked once, when this is loaded.
 *
 * Beside the views here is what the formats have in common: hashes as four words, and the mix that their checks are made of.
 */
import { assert } from '../base/assert.ts';
import type { Hash128 } from '../base/hash.ts';

assert(
  new Uint8Array(new Int32Array([1]).buffer)[0] === 1,
  'the files of a data directory need a little-endian machine',
);

/** How much the higher word of a 64-bit number counts. */
export const TWO_32 = 0x1_0000_0000;

/** Words over bytes that begin at a multiple of four in their buffer; a rest of less than a word is left out. */
export function wordsOf(bytes: Uint8Array): Int32Array {
  assert(bytes.byteOffset % 4 === 0, 'words begin at a multiple of four');
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2);
}

/** Writes a hash to words `at` to `at` + 3. */
export function writeHash(words: Int32Array, at: number, hash: Readonly<Hash128>): void {
  words[at] = hash.h0;
  words[at + 1] = hash.h1;
  words[at + 2] = hash.h2;
  words[at + 3] = hash.h3;
}

/** Fills `into` from words `at` to `at` + 3. */
export function readHash(words: Int32Array, at: number, into: Hash128): void {
  into.h0 = words[at]! >>> 0;
  into.h1 = words[at + 1]! >>> 0;
  into.h2 = words[at + 2]! >>> 0;
  into.h3 = words[at + 3]! >>> 0;
}

/** The hash in words `at` to `at` + 3, as a record of its own. */
export function hashAt(words: Int32Array, at: number): Hash128 {
  const hash = { h0: 0, h1: 0, h2: 0, h3: 0 };
  readHash(words, at, hash);
  return hash;
}

/**
 * Mixes words [start, end) into `check`, multiplying and turning word by word: any one flipped bit changes it, and two changes
 * cancel once in 2^32.
 */
export function mixWords(check: number, words: Int32Array, start: number, end: number): number {
  for (let i = start; i < end; i++) {
    check = Math.imul(check ^ words[i]!, 0x85ebca6b);
    check = (check << 13) | (check >>> 19);
  }
  return check;
}
