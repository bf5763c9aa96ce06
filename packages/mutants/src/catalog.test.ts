/** The catalog against the tree as it is: fast, so that whoever moves a line hears of it at once. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { catalogProblems } from './applies.ts';
import { catalog } from './catalog/catalog.ts';
import type { PlantedBug } from './planted-bug.ts';

const root = join(import.meta.dirname, '../../..');

test('every planted bug still applies, and every rule has one', () => {
  assert.deepEqual(catalogProblems(catalog, root), []);
  assert.ok(catalog.length >= 60);
  console.log(`${catalog.length} planted bugs apply`);
});

test('a bug that no longer applies is told, with what is wrong', () => {
  const sound: PlantedBug = {
    name: 'a-bug',
    breaks: [1],
    file: 'packages/mutants/src/planting.ts',
    find: "occurs'",
    replace: '',
    why: '',
  };
  const problemsOf = (change: Partial<PlantedBug>): string[] =>
    catalogProblems([...catalog, { ...sound, ...change }], root);
  assert.match(problemsOf({}).join(), /no longer has the text/);
  assert.match(problemsOf({ find: 'text' }).join(), /more than once/);
  assert.match(problemsOf({ file: 'packages/nowhere.ts' }).join(), /nowhere\.ts is not there/);
  assert.match(problemsOf({ name: 'A bug' }).join(), /kebab-case/);
  assert.match(problemsOf({ name: catalog[0]!.name }).join(), /taken twice/);
  assert.match(problemsOf({ breaks: [] }).join(), /breaks no rule/);
  assert.match(problemsOf({ server: ['nothing'] }).join(), /nothing\.test\.ts is not there/);
  assert.match(catalogProblems([], root).join(), /no planted bug breaks 7/);
});
