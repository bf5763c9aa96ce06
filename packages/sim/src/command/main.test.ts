/** The command from outside. */
import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

function run(...args: readonly string[]): { status: number | null; out: string; err: string } {
  const main = join(import.meta.dirname, 'main.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
    timeout: 120_000,
    maxBuffer: 256 * 2 ** 20,
  });
  return { status, out: stdout, err: stderr };
}

/** A run of a second is long enough to see how it is told. */
const few = ['--options', '{"workload":{"requests":20}}'];

test('a seed is replayed with a readable trace, the same each time', () => {
  const first = run('42', ...few);
  equal(first.err, '');
  equal(first.status, 0);
  match(first.out, /^ +\d+\.\d{3} gateway/m);
  match(first.out, /^\d+ requests in [\d.]+ simulated seconds, trace [0-9a-f]{8}$/m);
  match(first.out, /seed 42 passed\n$/);
  equal(run('42', ...few).out, first.out);
  const quiet = run('42', '--quiet', ...few).out;
  equal(quiet.split('\n').length, 4);
  equal(first.out.endsWith(quiet), true);
  notEqual(run('43', '--quiet', ...few).out, quiet);
});

test('without a seed a random one is taken and printed', () => {
  const { status, out } = run(...few);
  equal(status, 0);
  const [first = ''] = out.split('\n');
  match(first, /^seed \d+$/);
  match(out, new RegExp(`${first} passed\n$`));
});

test('many seeds end with how many failed', () => {
  const { status, out } = run('5', '--seeds', '3', '--workers', '2');
  equal(status, 0);
  match(out, /\n3 seeds from 5: 0 failed\n$/);
  match(out, /│ hit +│/);
});

test('a trace that is read no further ends the program without a word', () => {
  const main = join(import.meta.dirname, 'main.ts');
  const line = `"${process.execPath}" "${main}" 42 | head -1; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', line], { encoding: 'utf8', timeout: 60_000 });
  equal(stderr, '');
  match(stdout, /^.+\n141\n$/);
});

test('output that can’t be written ends the program with what is in the way', () => {
  const main = join(import.meta.dirname, 'main.ts');
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [main, '42', '--quiet', ...few], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
    timeout: 60_000,
  });
  closeSync(full);
  equal(status, 1);
  match(stderr, /^What this prints can't be written: ENOSPC.*\n$/);
});

test('many seeds that are interrupted end with what came of those that ran', async () => {
  const main = join(import.meta.dirname, 'main.ts');
  const child = spawn(process.execPath, [main, '5', '--seeds', '100000', '--workers', '1'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // The first line of progress: a seed has run.
  child.stderr.once('data', () => {
    child.kill('SIGINT');
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGINT'), 20);
  });
  const exit = once(child, 'exit');
  let out = '';
  for await (const piece of child.stdout.setEncoding('utf8')) out += String(piece);
  match(out, /\n\d{1,4} seeds from 5: 0 failed\n$/);
  deepEqual(await exit, [130, null]);
});

test('a seed that passes is not made smaller', () => {
  const { status, out } = run('42', '--shrink', ...few);
  equal(status, 0);
  equal(out, 'seed 42 passed: there is nothing to make smaller\n');
});

test('arguments that mean nothing get the usage and exit code 2', () => {
  for (const args of [['x'], ['1', '2'], ['0', '--seeds', '0'], ['1', '--options', '{"a":1}']]) {
    const { status, out, err } = run(...args);
    equal(status, 2, args.join(' '));
    equal(out, '');
    match(err, /^Usage: npm run sim/m);
  }
  const help = run('--help');
  equal(help.status, 0);
  match(help.out, /^Usage: npm run sim/);
});
