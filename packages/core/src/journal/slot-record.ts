/**
 * One row of the slot table: what is in a slot of the slab, in 64 bytes.
 *
 * Rows outlive processes, so a row is believed only if its check fits: a mix of all its words, of the number of its row and
 * of the cache's id. A row that was torn, flipped, written to the wrong place or left by another cache is damaged. All zero
 * is an empty row. 64 bytes never straddle a disk's sector, so a row is never half old and half new on a disk that writes
 * sectors whole.
 *
 *   0–3  version                  8   extent (24 bits), place in it (8)
 *   4    block index              9   pages of 4096 bytes that a slot of the extent has
 *   5    bytes of the block      10   CRC32C of those bytes
 *   6, 7 placement, high and low 11   run that wrote the row
 *  12–14 zero                    15   check
 *
 * The format is version 1 of table-header.ts; docs/data-files.md describes it for readers.
 */
import { mix32, type Hash128 } from '../base/hash.ts';
import { isPlaceOf, newBlockPlace, type BlockPlace } from '../store/block-place.ts';
import { mixWords, readHash, writeHash } from './words.ts';

export const RECORD_BYTES = 64;
export const RECORD_WORDS = RECORD_BYTES / 4;

const CHECK = RECORD_WORDS - 1;
const PAGE_BYTES = 4096;

/** What a row says beside where its block is. */
export interface RowClaim {
  /** CRC32C of the block's bytes, an int32. */
  checksum: number;
  /** The run that wrote the row. */
  run: number;
}

/** What stands in a row. */
export type RowState = 'empty' | 'damaged' | 'valid';

/** What the checks of one cache's rows begin with. */
export function recordSeed(cacheId: Readonly<Hash128>): number {
  return mix32(cacheId.h0 ^ mix32(cacheId.h1 ^ mix32(cacheId.h2 ^ mix32(cacheId.h3))));
}

/** Writes the row of a slot at word `at`. */
export function encodeRecord(
  words: Int32Array,
  at: number,
  slot: number,
  place: Readonly<BlockPlace>,
  claim: Readonly<RowClaim>,
  seed: number,
): void {
  writeHash(words, at, place.version);
  words[at + 4] = place.block;
  words[at + 5] = place.length;
  words[at + 6] = place.placementHi;
  words[at + 7] = place.placementLo;
  words[at + 8] = (place.extent << 8) | place.place;
  words[at + 9] = place.slotBytes / PAGE_BYTES;
  words[at + 10] = claim.checksum;
  words[at + 11] = claim.run;
  words[at + 12] = 0;
  words[at + 13] = 0;
  words[at + 14] = 0;
  words[at + CHECK] = checkOf(words, at, slot, seed);
}

/** Reads the row of a slot at word `at`; fills the records in only when it is valid. */
export function decodeRecord(
  words: Int32Array,
  at: number,
  slot: number,
  seed: number,
  place: BlockPlace,
  claim: RowClaim,
): RowState {
  if (words[at + CHECK] !== checkOf(words, at, slot, seed)) {
    return isEmpty(words, at) ? 'empty' : 'damaged';
  }
  readHash(words, at, place.version);
  place.block = words[at + 4]!;
  place.length = words[at + 5]!;
  place.placementHi = words[at + 6]! >>> 0;
  place.placementLo = words[at + 7]! >>> 0;
  place.extent = words[at + 8]! >>> 8;
  place.place = words[at + 8]! & 0xff;
  place.slotBytes = words[at + 9]! * PAGE_BYTES;
  claim.checksum = words[at + 10]!;
  claim.run = words[at + 11]! >>> 0;
  return 'valid';
}

/**
 * What the row of a slot at word `at` claims, as long as it is the row of `expected`: null when it is empty, damaged, or speaks of
 * another block or place.
 */
export function claimOf(
  words: Int32Array,
  at: number,
  slot: number,
  seed: number,
  expected: Readonly<BlockPlace>,
): RowClaim | null {
  const place = newBlockPlace();
  const claim: RowClaim = { checksum: 0, run: 0 };
  const state = decodeRecord(words, at, slot, seed, place, claim);
  return state === 'valid' && isPlaceOf(place, expected) ? claim : null;
}

function isEmpty(words: Int32Array, at: number): boolean {
  let all = 0;
  for (let i = at; i < at + RECORD_WORDS; i++) all |= words[i]!;
  return all === 0;
}

/** Over all words of a row before its check. */
function checkOf(words: Int32Array, at: number, slot: number, seed: number): number {
  let check = Math.imul(slot, 0x9e3779b1) ^ seed;
  check = mixWords(check, words, at, at + CHECK);
  return mix32(check ^ 0x5bd1e995);
}
