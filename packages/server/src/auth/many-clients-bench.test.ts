// The benchmark of many clients runs small here, so that it can't rot.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manyClients } from './many-clients.bench.ts';

test('many clients load, and each is found with its grants', () => {
  const result = manyClients(100, 10, 1000);
  assert.equal(result.grants, 1000);
  for (const figure of Object.values(result)) assert.ok(figure > 0);
});
