import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const main = join(import.meta.dirname, 'main.ts');
  return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', timeout: 170_000 });
}

test('25 lives, killed and damaged, bring no wrong byte', () => {
  const { status, stdout, stderr } = run('--rounds', '25', '--seed', '4', '--quiet');
  assert.equal(status, 0, stdout + stderr);
  const reads = /\n25 rounds, (\d+) reads checked, 0 wrong\n$/.exec(stdout)?.[1];
  // How many depends on the machine; next to none would check next to nothing.
  assert.ok(Number(reads) > 100, stdout);
});

test('bad arguments are told with the usage', () => {
  for (const args of [
    ['--rounds', 'many'],
    ['--rounds', '0'],
    ['--seed=-1'],
    ['--speed', '1'],
    ['here'],
  ]) {
    const { status, stdout, stderr } = run(...args);
    assert.deepEqual([status, stdout], [2, ''], args.join(' '));
    assert.match(stderr, /^[^\n].*\n\nUsage: npm run torture/s);
  }
});
