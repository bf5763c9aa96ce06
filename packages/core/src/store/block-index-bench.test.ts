import { equal, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { measureIndex } from './block-index.bench.ts';

test('the benchmark of the index runs and gives the same result each time, another one for other blocks', () => {
  const first = measureIndex(5000);
  equal(measureIndex(5000).resultHash, first.resultHash);
  notEqual(measureIndex(5001).resultHash, first.resultHash);
});
