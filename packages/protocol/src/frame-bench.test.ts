import { equal, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { measureFrames } from './frame.bench.ts';

test('the benchmark of frames runs and gives the same result each time, another one for other frames', () => {
  const first = measureFrames(2000);
  equal(measureFrames(2000).resultHash, first.resultHash);
  notEqual(measureFrames(2001).resultHash, first.resultHash);
});
