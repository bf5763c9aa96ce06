import { deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { measureRecovery } from './recovery.bench.ts';

test('the benchmark restores every block, the same each time', () => {
  const [one, other] = [measureRecovery(32_000), measureRecovery(32_000)];
  deepEqual(one.resultHash, other.resultHash);
  ok(one.bytesPerBlock <= 64, `${one.bytesPerBlock} bytes a block`);
});
