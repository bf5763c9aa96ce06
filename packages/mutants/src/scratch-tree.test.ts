import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ScratchTree } from './scratch-tree.ts';

test('a copy that can’t be made leaves nothing behind', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'scratch-tree-'));
  const before = process.env['TMPDIR'];
  context.after(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(folder, { recursive: true });
  });
  const source = join(folder, 'source');
  const copies = join(folder, 'copies');
  mkdirSync(join(source, 'packages/native'), { recursive: true });
  mkdirSync(copies);
  process.env['TMPDIR'] = copies;
  // There are no node_modules to link.
  assert.throws(() => new ScratchTree(source), { code: 'ENOENT' });
  assert.deepEqual(readdirSync(copies), []);
});
