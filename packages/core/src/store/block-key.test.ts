import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { BlockKey } from './block-key.ts';
import { SlotRecords } from './slot-records.ts';

const version = { h0: 0xffff_ffff, h1: 0x8000_0000, h2: 7, h3: 9 };

function bits(key: BlockKey, block: number, other = version): [number, number] {
  key.set(other, block);
  return [key.a, key.b];
}

test('a key hashes the same from a version and from the record of its slot', () => {
  const key = new BlockKey({ hi: 0xffff_0001, lo: 0x8000_0001 });
  const records = new SlotRecords();
  const slot = records.make();
  records.assign(slot, version, 77, 1, 2, 3);
  const expected = bits(key, 77);
  key.set(version, 0);
  key.setFromSlot(records, slot);
  deepEqual([key.a, key.b], expected);
});

test('another seed puts a block elsewhere: nobody outside knows where', () => {
  const one = bits(new BlockKey({ hi: 1, lo: 2 }), 5);
  notEqual(one[0], bits(new BlockKey({ hi: 1, lo: 3 }), 5)[0]);
  notEqual(one[0], bits(new BlockKey({ hi: 2, lo: 2 }), 5)[0]);
});

test('blocks of one object and neighbouring versions spread over all places', () => {
  const key = new BlockKey({ hi: 1, lo: 2 });
  for (const shift of [0, 8, 16, 24]) {
    const a = new Int32Array(256);
    const b = new Int32Array(256);
    for (let i = 0; i < 256 * 200; i++) {
      key.set({ ...version, h2: i >>> 6 }, i & 63);
      a[(key.a >>> shift) & 255]!++;
      b[(key.b >>> shift) & 255]!++;
    }
    for (const counts of [a, b]) ok(Math.min(...counts) > 130 && Math.max(...counts) < 280);
  }
});

test('the two words are independent', () => {
  const key = new BlockKey({ hi: 1, lo: 2 });
  const pairs = new Set<number>();
  for (let block = 0; block < 65_536; block++) {
    const [a, b] = bits(key, block);
    pairs.add(((a & 0xff) << 8) | (b & 0xff));
  }
  // Of 65,536 pairs a random map leaves out 1/e.
  equal(Math.abs(pairs.size - 41_427) < 600, true);
});
