import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const main = join(import.meta.dirname, 'main.ts');

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', timeout: 170_000 });
}

test('25 lives, killed and damaged, bring no wrong byte', () => {
  const { status, stdout, stderr } = run('--rounds', '25', '--seed', '4', '--quiet');
  assert.equal(status, 0, stdout + stderr);
  const reads = /\n25 rounds, (\d+) reads checked, 0 wrong\n$/.exec(stdout)?.[1];
  // How many depends on the machine; next to none would check next to nothing.
  assert.ok(Number(reads) > 100, stdout);
});

test('nothing stays behind when it is interrupted', async (context) => {
  const dir = mkdtempSync(join(tmpdir(), 's3-accelerator-interrupted-'));
  context.after(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  const child = spawn(process.execPath, [main, '--rounds', '1000', '--dir', dir]);
  const ended = once(child, 'exit');
  // The second one is the first round's.
  let lines = 0;
  child.stdout.on('data', (text: Buffer) => {
    lines += text.toString().split('\n').length - 1;
    if (lines > 1) child.kill('SIGINT');
  });
  assert.deepEqual(await ended, [1, null]);
  assert.deepEqual(readdirSync(dir), []);
});

test('bad arguments are told with the usage', () => {
  for (const args of [
    ['--rounds', 'many'],
    ['--rounds', '0'],
    ['--seed=-1'],
    ['--speed', '1'],
    ['here'],
    ['--dir', '/nowhere/at/all'],
  ]) {
    const { status, stdout, stderr } = run(...args);
    assert.deepEqual([status, stdout], [2, ''], args.join(' '));
    assert.match(stderr, /^[^\n]+\n\nUsage: npm run torture/);
  }
  assert.match(run('--speed', '1').stderr, /^There is no option --speed\.\n/);
});
