import assert from 'node:assert/strict';
import { test } from 'node:test';
import { torture } from './torture.ts';

test('500 lives, killed and damaged, bring no wrong byte', async () => {
  const { tally, rounds } = await torture({ rounds: 500, seed: 1, keep: false }, () => undefined);
  assert.deepEqual(tally.wrong, []);
  assert.equal(rounds, 500);
  assert.ok(tally.reads > 2000, `only ${tally.reads} reads were checked`);
});
