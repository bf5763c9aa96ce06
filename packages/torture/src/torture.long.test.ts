import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { torture } from './torture.ts';

test('500 lives, killed and damaged, bring no wrong byte', async () => {
  const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-torture-'));
  const options = { rounds: 500, seed: 1, keep: false, directory };
  const { tally, rounds } = await torture(options, () => undefined);
  assert.deepEqual(tally.wrong, []);
  assert.equal(rounds, 500);
  assert.ok(tally.reads > 2000, `only ${tally.reads} reads were checked`);
});
