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
  0: 'd80b29b4',
  1: 'f18400dd',
  17: 'eda0ae2f',
  42: '603618dd',
  4294967297: '9f56e406',
};

test('seeds do what they always did', () => {
  const found = Object.keys(hashes).map((seed) => {
    const { failure, traceHash } = simulate(optionsOf(Number(seed)));
    assert.equal(failure, null, `seed ${seed}`);
    return [seed, traceHash];
  });
  assert.deepEqual(Object.fromEntries(found), hashes);
});
