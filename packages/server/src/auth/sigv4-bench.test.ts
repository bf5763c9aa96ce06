import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { measureChecks } from './sigv4.bench.ts';

test('the benchmark of the signature check runs, accepts the right half, and gives the same result each time', () => {
  const first = measureChecks(500);
  equal(first.accepted, 250);
  equal(measureChecks(500).resultHash, first.resultHash);
});
