import { equal, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { measureMetadataCache } from './metadata-cache.bench.ts';

test('the benchmark of the metadata cache runs and gives the same result each time, another one for other objects', () => {
  const first = measureMetadataCache(3000);
  equal(measureMetadataCache(3000).resultHash, first.resultHash);
  notEqual(measureMetadataCache(3001).resultHash, first.resultHash);
});
