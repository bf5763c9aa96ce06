import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { measureStore } from '@s3-accelerator/core/store/store.bench.ts';

test('the benchmark runs, and the store does the same in the memory that a node gives it', () => {
  const blocks = 65_535;
  const script = join(import.meta.dirname, 'store.bench.ts');
  const printed = execFileSync(process.execPath, [script, String(blocks)], { encoding: 'utf8' });
  const { resultHash } = JSON.parse(printed) as { resultHash: number };
  assert.equal(resultHash, measureStore(blocks).resultHash);
});
