/** The report on many seeds: its last lines, its exit code, what it says about what never arose. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { situationNames, type Situation } from '../situations.ts';
import type { RunOutcome } from '../simulation.ts';
import { failedOutcome } from './seed-run.ts';
import { Summary } from './summary.ts';

function passed(situations: readonly Situation[] = situationNames): RunOutcome {
  return {
    failure: null,
    traceHash: '00000000',
    requests: 500,
    situations: new Map(situations.map((situation) => [situation, 2])),
    simulatedMs: 3_600_000,
  };
}

function summaryOf(first: number, count: number, outcomeOf: (seed: number) => RunOutcome): Summary {
  const summary = new Summary({ first, count });
  // Threads end in any order.
  for (let seed = first + count - 1; seed >= first; seed--) {
    summary.add({ seed, outcome: outcomeOf(seed) });
  }
  return summary;
}

test('seeds that pass end with the count', () => {
  const summary = summaryOf(7, 3, () => passed());
  ok(summary.isGood);
  const lines = summary.render().trimEnd().split('\n');
  equal(lines.at(-1), '3 seeds from 7: 0 failed');
  equal(lines.at(-2), '1500 requests in 3.0 simulated hours');
});

test('every situation has its line, also one that never arose', () => {
  const text = summaryOf(0, 3, (seed) => passed(seed === 1 ? ['hit'] : [])).render();
  match(text, /│ hit +│ +2 │ +1 │/);
  match(text, /│ eviction +│ +0 │ +0 │/);
});

test('failing seeds are told in order, the first few in full, and listed last', () => {
  const summary = summaryOf(0, 20, (seed) =>
    seed % 2 === 1 ? failedOutcome('answers', `wrong byte in ${seed}`) : passed(),
  );
  equal(summary.isGood, false);
  equal(summary.failures, 10);
  const lines = summary.render().trimEnd().split('\n');
  deepEqual(lines.slice(-2), [
    '20 seeds from 0: 10 failed',
    'failing seeds: 1 3 5 7 9 11 13 15 17 19',
  ]);
  const told = lines.filter((line) => line.includes('wrong byte'));
  equal(told.length, 5);
  equal(told[0], 'seed 1 failed at 0.000 ms: answers: wrong byte in 1');
});

test('a situation that never arose fails a long run, not a short one', () => {
  const common = situationNames.filter((situation) => situation !== 'ghost hit');
  ok(summaryOf(0, 1_999, () => passed(common)).isGood);
  const long = summaryOf(0, 2_000, () => passed(common));
  deepEqual(long.missing, ['ghost hit']);
  equal(long.isGood, false);
  match(long.render(), /^in 2000 seeds this never arose: ghost hit$/m);
});
