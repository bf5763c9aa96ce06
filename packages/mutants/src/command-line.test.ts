import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { catalog } from './catalog/catalog.ts';
import { optionsOf } from './command-line.ts';

const main = join(import.meta.dirname, 'main.ts');
const names = catalog.map(({ name }) => name);

function complaintAbout(...args: readonly string[]): string {
  const options = optionsOf(args, catalog);
  assert.ok(typeof options === 'string');
  return options;
}

test('without arguments the whole catalog is run', () => {
  const options = optionsOf([], catalog);
  assert.ok(typeof options !== 'string');
  assert.deepEqual([options.what, options.isAll, options.bugs], ['run', true, catalog]);
  assert.ok(options.jobs >= 1);
});

test('--only takes names, in the order of the catalog', () => {
  const options = optionsOf(['--only', `${names[5]!},${names[2]!}`, '--jobs', '3'], catalog);
  assert.ok(typeof options !== 'string');
  assert.deepEqual(options.bugs, [catalog[2], catalog[5]]);
  assert.deepEqual([options.isAll, options.jobs], [false, 3]);
});

test('what makes no sense is told', () => {
  assert.match(complaintAbout('--only', 'nothing'), /'nothing'/);
  assert.match(complaintAbout('--only', ''), /''/);
  for (const jobs of ['0', '-1', 'many', '1.5']) {
    assert.match(complaintAbout(`--jobs=${jobs}`), /--jobs/);
  }
  assert.match(complaintAbout('--check', '--table'), /exclude/);
  assert.equal(complaintAbout('--all'), 'There is no option --all.');
  assert.equal(complaintAbout('more'), "There is nothing to do with 'more'.");
});

test('the command ends with 2 and its usage on bad arguments, helps, and tells how many bugs apply', () => {
  const bad = spawnSync(process.execPath, [main, '--only', 'nothing'], { encoding: 'utf8' });
  assert.equal(bad.status, 2);
  assert.match(bad.stderr, /Usage: npm run mutants/);
  const help = spawnSync(process.execPath, [main, '--help'], { encoding: 'utf8' });
  assert.equal(help.status, 0);
  assert.match(help.stdout, /Usage: npm run mutants/);
  const check = spawnSync(process.execPath, [main, '--check'], { encoding: 'utf8' });
  assert.deepEqual([check.status, check.stdout], [0, `${catalog.length} planted bugs apply\n`]);
  const table = spawnSync(process.execPath, [main, '--table'], { encoding: 'utf8' });
  assert.equal(table.status, 0);
  for (const name of names) assert.ok(table.stdout.includes(`\`${name}\``), name);
});
