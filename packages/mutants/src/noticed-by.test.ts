import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { NoticedBy } from './noticed-by.ts';
import type { PlantedBug } from './planted-bug.ts';

const bugOf = (name: string): PlantedBug => ({
  name,
  breaks: [1],
  file: '',
  find: '',
  replace: '',
  why: '',
});
const caught = (name: string, layer: 'unit' | 'seeds', file: string) =>
  ({ bug: bugOf(name), fate: { kind: 'caught', layer, by: 'a test', file }, seconds: 1 }) as const;

test('the unit test that noticed a bug is known the next time, until it is another one or none', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'noticed-by-'));
  context.after(() => {
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, 'noticed-by.json');
  const first = new NoticedBy(path);
  assert.equal(first.of(bugOf('b')), undefined);
  first.learn(caught('b', 'unit', 'b.test.ts'));
  first.learn(caught('a', 'unit', 'a.test.ts'));
  first.learn(caught('c', 'seeds', 'c.test.ts'));
  assert.equal(readFileSync(path, 'utf8'), '{\n  "a": "a.test.ts",\n  "b": "b.test.ts"\n}\n');
  const next = new NoticedBy(path);
  assert.equal(next.of(bugOf('b')), 'b.test.ts');
  next.learn(caught('a', 'unit', 'other.test.ts'));
  next.learn({ bug: bugOf('b'), fate: { kind: 'missed' }, seconds: 1 });
  assert.equal(readFileSync(path, 'utf8'), '{\n  "a": "other.test.ts"\n}\n');
});

test('a damaged list is begun anew', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'noticed-by-'));
  context.after(() => {
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, 'noticed-by.json');
  writeFileSync(path, '<<<<<<< both\n{ "a": "a.test.ts"');
  const noticed = new NoticedBy(path);
  assert.equal(noticed.of(bugOf('a')), undefined);
  noticed.learn(caught('b', 'unit', 'b.test.ts'));
  assert.equal(readFileSync(path, 'utf8'), '{\n  "b": "b.test.ts"\n}\n');
});
