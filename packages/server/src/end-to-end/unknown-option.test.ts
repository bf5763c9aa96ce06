// What every program here says of an option that there is none of.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../../../..');

const programs: readonly (readonly [file: string, ...args: readonly string[]])[] = [
  ['packages/bench/src/main.ts'],
  ['packages/bench/src/profile/main.ts', 'plan.toml'],
  ['packages/bench/src/scaling/main.ts'],
  ['packages/conformance/src/main.ts'],
  ['packages/conformance/src/uploads.ts'],
  ['packages/load/bin/s3-accelerator-load.mjs', 'seed', 'plan.toml'],
  ['packages/memory-s3/src/main.ts'],
  ['packages/mutants/src/main.ts'],
  ['packages/server/bin/s3-accelerator.mjs', 'config.toml'],
  ['packages/sim/src/command/main.ts', '1'],
  ['packages/torture/src/main.ts'],
  ['scripts/check.ts'],
  ['scripts/cluster.ts', 'status'],
];

for (const [file, ...args] of programs) {
  test(`${file} names an option that it doesn't have in one line, with its usage, and ends with 2`, () => {
    const command = [join(root, file), ...args, '--foo'];
    const { status, stdout, stderr } = spawnSync(process.execPath, command, {
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.match(stderr, /^([a-z0-9/-]+: )?There is no option --foo\.\n\nUsage: /);
    assert.deepEqual([status, stdout], [2, '']);
  });
}
