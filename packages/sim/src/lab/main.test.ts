/** The command from outside: what it prints and its exit codes. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const scratch = mkdtempSync(join(tmpdir(), 's3-accelerator-lab-main-'));
after(() => {
  rmSync(scratch, { recursive: true, force: true });
});

function run(...args: readonly string[]): { status: number | null; out: string; err: string } {
  const main = join(import.meta.dirname, 'main.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { status, out: stdout, err: stderr };
}

function traceFile(name: string, text: string): string {
  const file = join(scratch, name);
  writeFileSync(file, text);
  return file;
}

test('the targets are met, and the docs show what was measured', () => {
  const plot = join(scratch, 'plot.svg');
  const { status, out, err } = run('--plot', plot);
  equal(err, '');
  equal(status, 0);
  for (const trace of ['zipf', 'scan', 'scan-twice', 'size-shift', 'churn']) {
    match(out, new RegExp(`^${trace}: `, 'm'));
  }
  equal(out.match(/^pass {3}/gm)?.length, 4);
  equal(out.match(/^short/gm), null);
  const docs = join(import.meta.dirname, '../../../../docs');
  // Written by `npm run hit-rates -- --plot docs/hit-rates.svg`; the page holds what the command prints.
  equal(readFileSync(plot, 'utf8'), readFileSync(join(docs, 'hit-rates.svg'), 'utf8'));
  ok(readFileSync(join(docs, 'hit-rates.md'), 'utf8').includes(out));
});

test('a recorded trace, one policy and a capacity, as one object', () => {
  const file = traceFile('good.csv', '0,a,1048576,,\n1,a,1048576,,\n2,a,1048576,,\n');
  const { status, out } = run('--trace', file, '--policy', 'ours', '--capacity', '8MiB', '--json');
  equal(status, 0);
  const { traces, targets } = JSON.parse(out) as {
    traces: { capacityBytes: number; policies: { policy: string; byteHitRatio: number }[] }[];
    targets: unknown[];
  };
  equal(traces.length, 1);
  equal(traces[0]!.capacityBytes, 8 * 2 ** 20);
  deepEqual(
    traces[0]!.policies.map(({ policy, byteHitRatio }) => [policy, byteHitRatio.toFixed(3)]),
    [['ours', '0.333']],
  );
  deepEqual(targets, []);
});

test('arguments that mean nothing get the usage and exit code 2', () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['--policy', 'arc'], /no policy is called 'arc'; there are ours, s3-fifo, lru, fifo/],
    [['--capacity', '12'], /capacity '12' is none/],
    [['--capacity', '0GiB'], /capacity '0GiB' is none/],
    [['--capacity', '17TiB'], /capacity '17TiB' is none/],
    [['--frob'], /--frob/],
    [['surplus'], /surplus/],
    [['--trace'], /--trace/],
    [['--trace', ''], /--trace and --plot take the name of a file/],
    [['--policy', 'ours,lru,ours'], /policy 'ours' is named twice/],
  ];
  for (const [args, message] of cases) {
    const { status, out, err } = run(...args);
    equal(status, 2, args.join(' '));
    equal(out, '');
    match(err, message);
    match(err, /^Usage: npm run hit-rates/m);
  }
});

test('a trace that can’t be read gets one line and exit code 2', () => {
  const file = traceFile('bad.csv', '0,a,5,,\n1,a,x,,\n');
  const { status, err } = run('--trace', file);
  equal(status, 2);
  equal(err, `${file}:2: size 'x' is no number of bytes\n`);
});

test('a picture that can’t be written is said so, behind what was measured', () => {
  const file = traceFile('good.csv', '0,a,1048576,,\n');
  const { status, out, err } = run('--trace', file, '--plot', join(scratch, 'nowhere', 'plot.svg'));
  equal(status, 2);
  match(out, /1 reads/);
  match(err, /^--plot can't be written: ENOENT/);
});

test('--help explains every policy', () => {
  const { status, out } = run('--help');
  equal(status, 0);
  for (const policy of ['ours', 's3-fifo', 'lru', 'fifo']) ok(out.includes(policy));
});
