/** Seeds that run with the tests: the same ones always, and others with every commit. */
import { deepEqual, equal } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { optionsOf } from '../options.ts';
import { renderFailure } from './render-failure.ts';
import { runToOutcome } from './seed-run.ts';

const FIXED_SEEDS = 60;
const COMMIT_SEEDS = 40;

function runRange(first: number, count: number): void {
  const failures: string[] = [];
  for (let seed = first; seed < first + count; seed++) {
    const outcome = runToOutcome(optionsOf(seed));
    if (outcome.failure !== null) failures.push(renderFailure(seed, outcome));
  }
  deepEqual(failures, []);
}

/** A number from the commit that is checked out; 0 where there is no git, as in a release's archive. */
function commitNumber(t: TestContext): number {
  try {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return createHash('sha256').update(commit.trim()).digest().readUInt32BE(0);
  } catch {
    t.diagnostic('there is no git here: the range of seeds is a fixed one');
    return 0;
  }
}

test('the first seeds pass', () => {
  runRange(0, FIXED_SEEDS);
});

test('seeds that depend on the commit pass', (t) => {
  const first = 1_000_000 + commitNumber(t);
  t.diagnostic(`${COMMIT_SEEDS} seeds from ${first}`);
  runRange(first, COMMIT_SEEDS);
});

test('a seed does the same every time', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const outcome = runToOutcome(optionsOf(seed));
    deepEqual(runToOutcome(optionsOf(seed)), outcome);
    equal(outcome.requests >= 500, true, `seed ${seed}: ${outcome.requests} requests`);
  }
});
