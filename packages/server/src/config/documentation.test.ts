import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readConfig } from './config.ts';
import { configurationPage, everyRow, exampleFile } from './documentation.ts';

const repository = new URL('../../../../', import.meta.url);
const fileOf = (path: string): string => readFileSync(new URL(path, repository), 'utf8');
const stale = (path: string): string => `${path} has fallen behind the table: npm run docs`;

test('docs/configuration.md is what the settings table says', () => {
  assert.equal(fileOf('docs/configuration.md'), configurationPage(), stale('configuration.md'));
});

test('config/example.toml is what the settings table says', () => {
  assert.equal(fileOf('config/example.toml'), exampleFile(), stale('example.toml'));
});

test('every setting has a line of documentation and is in the example', () => {
  const page = configurationPage();
  const example = exampleFile();
  const rows = everyRow();
  assert.ok(rows.length > 50, `only ${rows.length} rows`);
  for (const [path, row] of rows) {
    const key = path.slice(path.lastIndexOf('.') + 1);
    assert.match(row.doc, /^[`A-Z].*\.$/, `${path}: a sentence`);
    assert.ok(row.required || row.fallbackText !== '' || row.fallback === '', `${path}: a default`);
    assert.ok(page.includes(row.doc), `${path} is not in the page`);
    assert.match(example, new RegExp(`(^#?|[{,] )${key} = `, 'm'), `${path} is not in the example`);
  }
});

test('the example loads as it is', () => {
  assert.ok(readConfig(exampleFile(), 'example.toml').config.node !== undefined);
});

test('the example loads with every setting in force', () => {
  const all = exampleFile().replace(/^#(?=[a-z_]+ = )/gm, '');
  const { config } = readConfig(all, 'example.toml');
  assert.equal(config.origins.get('assets')?.bucket, 'assets-production');
  assert.equal(config.clients[0]?.sessionToken?.reveal(), '...');
});
