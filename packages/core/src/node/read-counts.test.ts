import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from '../base/prng.ts';
import { ReadCounts } from './read-counts.ts';

const windowMs = 1000;

test('reads of a placement are counted within their window', () => {
  const counts = new ReadCounts(windowMs, 7);
  for (let read = 1; read <= 5; read++)
    assert.equal(counts.count(100 + read, 1, 0xffff_ffff), read);
  assert.equal(counts.count(999, 0xffff_ffff, 1), 1, 'another placement');
  assert.equal(counts.count(1000, 1, 0xffff_ffff), 1, 'another window');
  assert.equal(counts.count(2 ** 41, 1, 0xffff_ffff), 1, 'long after');
});

test('what is read a lot is found among any number of others, and nothing else is', () => {
  const hotReads = 2000;
  const counts = new ReadCounts(windowMs, 99);
  const prng = new Prng(5, 6);
  let hot = 0;
  let others = 0;
  for (let read = 0; read < 100_000; read++) {
    if (read % 50 === 0) hot = Math.max(hot, counts.count(1, 42, 4242));
    else others = Math.max(others, counts.count(1, prng.u32(), prng.u32()));
  }
  assert.ok(hot > hotReads * 0.9, `${hot} of ${hotReads} reads were counted`);
  assert.ok(others < 10, `${others} reads of something that was read once`);
});

test('the one that is read more takes a cell over from the one that is read less', () => {
  // With two in each of the few cells, no two placements that share one are both missed.
  const counts = new ReadCounts(windowMs, 1);
  const most = new Map<number, number>();
  for (let round = 0; round < 100; round++) {
    for (let placement = 0; placement < 16_384; placement++) {
      const times = placement < 64 ? 3 : 1;
      for (let i = 0; i < times; i++) {
        const count = counts.count(1, placement, 0);
        most.set(placement, Math.max(most.get(placement) ?? 0, count));
      }
    }
  }
  const found = [...most].filter(([placement, count]) => placement < 64 && count > 50);
  assert.ok(found.length > 40, `${found.length} of the 64 that are read three times as often`);
});
