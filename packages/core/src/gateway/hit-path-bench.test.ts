import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureHits } from './hit-path.bench.ts';

test('the benchmark runs, gives the same result each time, and a hit allocates next to nothing', () => {
  const runs = [1, 2, 3].map(() => measureHits(50_000, 500));
  assert.equal(new Set(runs.map(({ resultHash }) => resultHash)).size, 1);
  // A moment that is boxed takes 16; tiering and collections add to some runs; one record a hit would be 50 and more.
  const allocated = Math.min(...runs.map((run) => run.allocated));
  assert.ok(allocated < 32, `${allocated} bytes a hit`);
});
