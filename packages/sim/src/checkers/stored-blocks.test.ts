import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredBlock } from '../history/views.ts';
import { checkStoredBlock } from './stored-blocks.ts';
import { bytesOf, HandMade } from './testing/hand-made.ts';

const blockBytes = 32;
const made = new HandMade();
const old = made.put(10, 'k', 100);
const current = made.put(20, 'k', 90);
const weak = made.put(20, 'weak', 40, { isWeak: true });

/** Block 1 of the old version, whole and intact. */
function stored(change: Partial<StoredBlock> = {}): StoredBlock {
  return {
    node: 2,
    slot: 7,
    block: { bucket: 'b', key: 'k', etag: old.etag, index: 1 },
    blockBytes,
    length: 32,
    bytes: bytesOf(old, 32, 32),
    isRotten: false,
    ...change,
  };
}

function named(change: object): StoredBlock['block'] {
  return { ...stored().block!, ...change };
}

void test('blocks of any version are kept, the last one shorter', () => {
  assert.equal(checkStoredBlock(made.oracle, stored()), null);
  const last = stored({ block: named({ index: 3 }), length: 4, bytes: bytesOf(old, 96, 4) });
  assert.equal(checkStoredBlock(made.oracle, last), null);
  const padded = new Uint8Array(4096);
  padded.set(bytesOf(old, 32, 32));
  assert.equal(checkStoredBlock(made.oracle, stored({ bytes: padded })), null);
});

const flipped = bytesOf(old, 32, 32);
flipped[31]! ^= 4;
const planted: readonly [what: string, change: Partial<StoredBlock>, message: RegExp][] = [
  ['a flipped bit', { bytes: flipped }, /node 2, slot 7: byte 31 of block 1/],
  ['zeros', { bytes: new Uint8Array(32) }, /byte 0 of block 1/],
  ['the next block', { bytes: bytesOf(old, 64, 32) }, /is wrong/],
  ['bytes one place off', { bytes: bytesOf(old, 33, 32) }, /is wrong/],
  ['another version’s bytes', { bytes: bytesOf(current, 32, 32) }, /is wrong/],
  ['too few bytes', { bytes: bytesOf(old, 32, 20) }, /only 20 of 32/],
  ['a length of another block', { length: 31 }, /has 31 bytes, not 32/],
  ['a block beyond the end', { block: named({ index: 4 }) }, /has 32 bytes, not -28/],
  ['a version that never was', { block: named({ etag: '"x"' }) }, /of no version that ever was/],
  ['another key’s version', { block: named({ key: 'other' }) }, /of no version that ever was/],
  [
    'a weak version',
    { block: named({ key: 'weak', etag: weak.etag }), bytes: bytesOf(weak, 32, 8), length: 8 },
    /has no strong ETag/,
  ],
  ['no ETag at all', { block: named({ etag: '' }) }, /has no strong ETag/],
  ['an identity that nobody has', { block: null }, /an identity that nobody has/],
];
for (const [what, change, message] of planted) {
  void test(`${what} is found`, () => {
    assert.match(checkStoredBlock(made.oracle, stored(change)) ?? 'nothing', message);
  });
}

void test('what the run itself damaged is excused, but not an identity that nobody has', () => {
  const rotten = stored({ bytes: flipped, isRotten: true });
  assert.equal(checkStoredBlock(made.oracle, rotten), null);
  assert.notEqual(checkStoredBlock(made.oracle, { ...rotten, block: null }), null);
});
