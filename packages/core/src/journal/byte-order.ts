/**
 * Files hold little-endian words, and the formats read and write them through Int32Array views, in place. That is right
 * only where the machine is little-endian too, as x86-64 and arm64 are: checked once, when this is loaded.
 */
import { assert } from '../base/assert.ts';

assert(
  new Uint8Array(new Int32Array([1]).buffer)[0] === 1,
  'the files of a data directory need a little-endian machine',
);

/** Words over bytes that begin at a multiple of four in their buffer; a rest of less than a word is left out. */
export function wordsOf(bytes: Uint8Array): Int32Array {
  assert(bytes.byteOffset % 4 === 0, 'words begin at a multiple of four');
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2);
}
