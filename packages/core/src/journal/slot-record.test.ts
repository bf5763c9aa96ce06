import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newBlockPlace, type BlockPlace } from '../store/block-place.ts';
import {
  decodeRecord,
  encodeRecord,
  RECORD_WORDS,
  recordSeed,
  type RowClaim,
} from './slot-record.ts';

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const versions = fc.record({ h0: u32, h1: u32, h2: u32, h3: u32 }, { noNullPrototype: true });
const places: fc.Arbitrary<BlockPlace> = fc.record(
  {
    version: versions,
    block: fc.integer({ min: 0, max: (1 << 24) - 1 }),
    length: fc.integer({ min: 1, max: 1 << 20 }),
    placementHi: u32,
    placementLo: u32,
    extent: fc.integer({ min: 0, max: (1 << 24) - 1 }),
    place: fc.integer({ min: 0, max: 254 }),
    slotBytes: fc.integer({ min: 1, max: 256 }).map((pages) => pages * 4096),
  },
  { noNullPrototype: true },
);
const claims = fc.record(
  { checksum: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), run: u32 },
  { noNullPrototype: true },
);
const seed = recordSeed({ h0: 1, h1: 2, h2: 3, h3: 4 });
const slot = 77;

function encoded(place: BlockPlace, claim: RowClaim): Int32Array {
  const words = new Int32Array(2 * RECORD_WORDS);
  encodeRecord(words, RECORD_WORDS, slot, place, claim, seed);
  return words.subarray(RECORD_WORDS);
}

const stateOf = (words: Int32Array, row = slot, key = seed): string =>
  decodeRecord(words, 0, row, key, newBlockPlace(), { checksum: 0, run: 0 });

test('a row says what was written into it', () => {
  fc.assert(
    fc.property(places, claims, (place, claim) => {
      const readPlace = newBlockPlace();
      const readClaim = { checksum: 0, run: 0 };
      const words = encoded(place, claim);
      equal(decodeRecord(words, 0, slot, seed, readPlace, readClaim), 'valid');
      deepEqual(readPlace, place);
      deepEqual(readClaim, claim);
    }),
  );
});

test('any one turned bit is damage', () => {
  fc.assert(
    fc.property(places, claims, (place, claim) => {
      const words = encoded(place, claim);
      for (let bit = 0; bit < RECORD_WORDS * 32; bit++) {
        words[bit >>> 5]! ^= 1 << (bit & 31);
        equal(stateOf(words), 'damaged', `bit ${bit}`);
        words[bit >>> 5]! ^= 1 << (bit & 31);
      }
    }),
    { numRuns: 20 },
  );
});

test('a row at another place of the table, or of another cache, is damage', () => {
  fc.assert(
    fc.property(places, claims, u32, (place, claim, other) => {
      const words = encoded(place, claim);
      equal(stateOf(words, slot + 1), 'damaged');
      const otherSeed = recordSeed({ h0: other, h1: 2, h2: 3, h3: 4 });
      if (other !== 1) notEqual(stateOf(words, slot, otherSeed), 'valid');
    }),
  );
});

test('zeros are an empty row, whatever the row and the cache', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1 << 26 }), u32, (row, key) => {
      equal(stateOf(new Int32Array(RECORD_WORDS), row, key), 'empty');
    }),
  );
});

test('the format stays what it is', () => {
  const place = newBlockPlace();
  Object.assign(place, {
    version: { h0: 0x01020304, h1: 0xfffefdfc, h2: 7, h3: 9 },
    block: 5,
    length: 5000,
    placementHi: 0xaabbccdd,
    placementLo: 1,
    extent: 3,
    place: 2,
    slotBytes: 8192,
  });
  const words = encoded(place, { checksum: -2, run: 4 });
  const bytes = new Uint8Array(words.slice().buffer);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  equal(hex, GOLDEN);
});

/** Little-endian words in the order of slot-record.ts. */
const GOLDEN =
  '04030201fcfdfeff0700000009000000' +
  '0500000088130000ddccbbaa01000000' +
  '0203000002000000feffffff04000000' +
  '0000000000000000000000009657b230';
