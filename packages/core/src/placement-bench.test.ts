import { equal, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { measurePlacement } from './placement.bench.ts';

test('the benchmark of placement runs and gives the same result each time, another one for another ring', () => {
  for (const weights of ['equal', 'unequal'] as const) {
    const first = measurePlacement(64, 2000, weights);
    equal(measurePlacement(64, 2000, weights).resultHash, first.resultHash);
    notEqual(measurePlacement(65, 2000, weights).resultHash, first.resultHash);
  }
});
