import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { measureRestore } from './full-cache.bench.ts';

test('the files of a full cache bring all of its blocks back, trusted', () => {
  const { restored, trusted, damaged, outside, contradictory } = measureRestore(20_000);
  equal(restored, 20_000);
  equal(trusted, 20_000);
  equal(damaged + outside + contradictory, 0);
});
