import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureHits } from './hit-path.bench.ts';

test('the benchmark runs, gives the same result each time, and a hit allocates next to nothing', () => {
  const first = measureHits(50_000, 500);
  const second = measureHits(50_000, 500);
  assert.equal(first.resultHash, second.resultHash);
  // Tiering and collections add or take a little; one record a hit would be 50 bytes and more.
  assert.ok(second.allocated < 16, `${second.allocated} bytes a hit`);
});
