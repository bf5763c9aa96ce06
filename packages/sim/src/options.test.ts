import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { optionsOf, streamOf } from './options.ts';

describe('the options of a seed', () => {
  test('are the same each time, and plain', () => {
    for (const seed of [0, 1, 4_294_967_296, Number.MAX_SAFE_INTEGER]) {
      assert.deepEqual(optionsOf(seed), optionsOf(seed));
      assert.equal(optionsOf(seed).seed, seed);
    }
  });

  test('differ between seeds, in each group', () => {
    const seeds = Array.from({ length: 50 }, (_, seed) => optionsOf(seed));
    for (const group of ['cluster', 'gateway', 'node', 'workload', 'delays', 'faults'] as const) {
      const drawn = new Set(seeds.map((options) => JSON.stringify(options[group])));
      assert.ok(drawn.size > 20, group);
    }
  });

  test('ask for 500 requests at least', () => {
    for (let seed = 0; seed < 200; seed++) assert.ok(optionsOf(seed).workload.requests >= 500);
  });
});

test('streams of one seed have nothing to do with each other', () => {
  const first = streamOf(5, 'network');
  const again = streamOf(5, 'network');
  const other = streamOf(5, 'disks/0');
  const far = streamOf(5 + 0x1_0000_0000, 'network');
  const draws = [first, again, other, far].map((prng) => [prng.u32(), prng.u32(), prng.u32()]);
  assert.deepEqual(draws[0], draws[1]);
  assert.notDeepEqual(draws[0], draws[2]);
  assert.notDeepEqual(draws[0], draws[3]);
});
