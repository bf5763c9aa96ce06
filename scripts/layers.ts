// Runs dependency-cruiser and refuses a run that saw too little: a cruiser that cannot parse the
// sources finds no breach either.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const expected = globSync('packages/*/{src,ts}/**/*.ts', { cwd: root }).length;
const cruise = spawnSync(
  join(root, 'node_modules/.bin/depcruise'),
  ['--config', '.dependency-cruiser.mjs', '--output-type', 'err', 'packages', 'scripts'],
  { cwd: root, encoding: 'utf8' },
);
process.stdout.write(cruise.stdout);
process.stderr.write(cruise.stderr);
if (cruise.status !== 0) process.exit(cruise.status ?? 1);
const seen = Number(/\((\d+) modules,/.exec(cruise.stdout)?.[1] ?? 0);
if (seen < expected) {
  console.error(
    `dependency-cruiser saw ${seen} modules, the tree has ${expected}: it is not checking.`,
  );
  process.exit(1);
}
