import { deepEqual, equal, notDeepEqual, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from './prng.ts';

const draws = (prng: Prng, count = 8): number[] => Array.from({ length: count }, () => prng.u32());

test('one seed gives one sequence, and every bit of the seed matters', () => {
  deepEqual(draws(new Prng(7, 9)), draws(new Prng(7, 9)));
  notDeepEqual(draws(new Prng(7, 9)), draws(new Prng(7, 8)));
  notDeepEqual(draws(new Prng(7, 9)), draws(new Prng(6, 9)));
});

test('a stream depends on seed and purpose, not on what was drawn before', () => {
  const prng = new Prng(7, 9);
  const before = draws(prng.stream('delays'));
  draws(prng, 100);
  deepEqual(draws(prng.stream('delays')), before);
  notDeepEqual(draws(prng.stream('faults')), before);
  notDeepEqual(draws(new Prng(7, 10).stream('delays')), before);
});

test('below is even, stays in range and refuses a range without numbers', () => {
  const prng = new Prng(1, 1);
  const hits = new Int32Array(6);
  for (let i = 0; i < 60_000; i++) hits[prng.below(6)]!++;
  for (const count of hits) ok(count > 9_500 && count < 10_500);
  equal(prng.below(1), 0);
  ok(prng.below(0x1_0000_0000) >= 0);
  throws(() => prng.below(0));
});

test('picks every choice about as often, and none of none', () => {
  const prng = new Prng(5, 6);
  const picked = Array.from({ length: 9_000 }, () => prng.pick(['a', 'b', 'c']));
  for (const choice of ['a', 'b', 'c']) {
    const hits = picked.filter((each) => each === choice).length;
    ok(hits > 2_700 && hits < 3_300);
  }
  throws(() => prng.pick([]));
});

test('fractions lie in [0, 1) and chances come as often as they should', () => {
  const prng = new Prng(3, 4);
  let hits = 0;
  for (let i = 0; i < 10_000; i++) {
    const fraction = prng.fraction();
    ok(fraction >= 0 && fraction < 1);
    if (prng.chance(0.25)) hits++;
  }
  ok(hits > 2_300 && hits < 2_700);
});
