import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Imports } from './imports.ts';

const imports = new Imports(join(import.meta.dirname, '../../..'));

test('a file is reached by what imports it, within its package and from others', () => {
  const reached = imports.reaching('packages/core/src/base/lru.ts');
  for (const file of [
    'packages/core/src/base/lru.ts',
    'packages/core/src/base/lru.test.ts',
    'packages/core/src/node/metadata-table.ts',
    'packages/core/src/testing/machines.test.ts',
    'packages/server/src/node/node-driver.ts',
    'packages/sim/src/simulation.ts',
  ]) {
    assert.ok(reached.has(file), file);
  }
  for (const file of ['packages/core/src/s3/etag.ts', 'packages/memory-s3/src/main.ts']) {
    assert.ok(!reached.has(file), file);
  }
});

test('the addon’s door is reached by what runs on it', () => {
  const reached = imports.reaching('packages/native/ts/native.ts');
  assert.ok(reached.has('packages/server/src/start/start.ts'));
});
