/** A bug through its layers for real, in a copy of the tree that the checkout knows nothing of. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { hunt, isCaught } from './hunt.ts';
import { Imports } from './imports.ts';
import type { PlantedBug } from './planted-bug.ts';
import { ScratchTree } from './scratch-tree.ts';

const root = join(import.meta.dirname, '../../..');
const tree = new ScratchTree(root);
after(() => {
  tree.remove();
  assert.ok(!existsSync(tree.root));
});

const bug: PlantedBug = {
  name: 'a-byte-too-many',
  breaks: [1],
  file: 'packages/memory-s3/src/byte-range.ts',
  find: 'Number(last) + 1',
  replace: 'Number(last) + 2',
  why: '',
};
/** No bound that a busy machine could reach. */
const baseline = new Map([['unit memory-s3', 60]]);

test('the copy runs its own code, not the checkout’s', () => {
  for (const name of ['@s3-accelerator/core', '@s3-accelerator/sim', 's3-accelerator']) {
    assert.ok(realpathSync(join(tree.root, 'node_modules', name)).startsWith(tree.root), name);
  }
});

test('a bug is caught by the first test that notices it, and taken out again', async () => {
  const sound = readFileSync(join(root, bug.file), 'utf8');
  const outcome = await hunt(bug, tree, new Imports(root), baseline, 1);
  assert.ok(isCaught(outcome));
  assert.ok(outcome.fate.kind === 'caught' && outcome.fate.layer === 'unit');
  assert.match(outcome.fate.by, /ranges resolve by the rules of S3/);
  assert.equal(tree.read(bug.file), sound);
  assert.equal(readFileSync(join(root, bug.file), 'utf8'), sound);
});

test('the test that noticed a bug before is enough, and one that doesn’t notice it any more costs nothing but time', async () => {
  for (const suspect of ['byte-range', 'faults', 'nowhere']) {
    const file = `packages/memory-s3/src/${suspect}.test.ts`;
    const { fate } = await hunt(bug, tree, new Imports(root), baseline, 1, file);
    assert.ok(fate.kind === 'caught' && fate.layer === 'unit');
    assert.equal(fate.file, 'packages/memory-s3/src/byte-range.test.ts');
  }
});

test('a bug that no longer applies is not caught, whatever the tests say', async () => {
  const gone = { ...bug, find: 'nowhere' };
  const outcome = await hunt(gone, tree, new Imports(root), baseline, 1);
  assert.equal(outcome.fate.kind, 'unusable');
  assert.ok(!isCaught(outcome));
});

test('running out of time counts for a bug that makes something wait for ever, and for no other', () => {
  const outcome = { bug, fate: { kind: 'hung', layer: 'unit' }, seconds: 0 } as const;
  assert.ok(!isCaught(outcome));
  assert.ok(isCaught({ ...outcome, bug: { ...bug, hangs: true } }));
});
