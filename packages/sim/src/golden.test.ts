/**
 * What a few seeds do, to the last effect, is the same on every machine and with every version of Node: nothing that a run decides may hang
 * on either. So their trace hashes stand here.
 *
 * Whoever changes what the machines or the world do changes them, and puts in the new ones that the test tells: on purpose, in the
 * same commit.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optionsOf, simulate } from './simulation.ts';

const hashes: Readonly<Record<number, string>> = {
  0: '0c1e75c1',
  1: '26661afd',
  17: '4e0c4b96',
  42: '12bfb0d0',
  4294967297: '9899a414',
};

test('seeds do what they always did', () => {
  const found = Object.keys(hashes).map((seed) => {
    const { failure, traceHash } = simulate(optionsOf(Number(seed)));
    assert.equal(failure, null, `seed ${seed}`);
    return [seed, traceHash];
  });
  assert.deepEqual(Object.fromEntries(found), hashes);
});
