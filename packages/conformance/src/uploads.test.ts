// The measurement of uploads runs small here, so that it can't rot.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureUploads } from './uploads.ts';

test('uploads are measured by both ways', async () => {
  const { direct, ratio, residentBefore, residentMost } = await measureUploads(2, 1_000_000);
  assert.ok(direct > 0 && ratio > 0);
  assert.ok(residentBefore > 0 && residentMost > 0);
});
