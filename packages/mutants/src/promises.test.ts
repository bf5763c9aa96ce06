import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { catalog } from './catalog/catalog.ts';
import { rules } from './planted-bug.ts';
import { promisesEnd, promisesStart, withPromises } from './promises.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/simulator.md'), 'utf8');

test('docs/simulator.md names every promise with its checkers and planted bugs: npm run docs', () => {
  assert.equal(withPromises(page, catalog), page);
});

test('each promise has a checker and a planted bug, and each bug breaks one', () => {
  const written = withPromises(`${promisesStart}\n${promisesEnd}\n`, catalog);
  for (const text of rules.values()) assert.ok(written.includes(`**${text}**`), text);
  assert.doesNotMatch(written, /Checked by \.|Planted: \./);
  for (const { name } of catalog) assert.ok(written.includes(`\`${name}\``), name);
});

test('a page without a place for them is refused', () => {
  assert.throws(() => withPromises('# A page\n', catalog), /no place/);
});
