import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { measureStore } from './store.bench.ts';

test('the benchmark runs, gives the same result each time, and a block costs at most 64 bytes', () => {
  // A whole number of record segments: a segment that has just begun would be charged to few
  // blocks.
  const blocks = 65_535;
  const first = measureStore(blocks);
  ok(first.bytesPerBlock <= 64, `${first.bytesPerBlock}`);
  equal(measureStore(blocks).resultHash, first.resultHash);
});
