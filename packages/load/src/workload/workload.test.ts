import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import { Dataset } from '../dataset/dataset.ts';
import type { StepPlan } from '../plan/plan.ts';
import { newExchange } from './exchange.ts';
import { orderOf, shareOf } from './order.ts';
import { Workload } from './workload.ts';
import { Zipf } from './zipf.ts';

const dataset = new Dataset({
  name: 'any',
  bucket: 'load',
  prefix: '',
  objects: 1000,
  seed: 1,
  sizes: [{ firstBytes: 10_000, lastBytes: 10_000, weight: 1 }],
});
const step: StepPlan = {
  name: 'any',
  dataset: 'any',
  operations: { get: 8, head: 1, put: 1, list: 0 },
  range: null,
  order: 'uniform',
  zipfExponent: 1,
  connections: 1,
  rate: null,
  durationS: 1,
  requests: null,
  warmUpS: 0,
  timeoutMs: 1000,
  verify: 'all',
  signPayload: false,
};
const alone = { index: 0, of: 1 };

function drawn(plan: StepPlan, count: number, seed = 1) {
  const workload = new Workload(plan, dataset, alone, seed);
  return Array.from({ length: count }, () => {
    const exchange = newExchange();
    workload.draw(exchange);
    return exchange;
  });
}

test('shares add up to the whole', () => {
  for (const total of [3, 10, 17]) {
    const shares = [0, 1, 2].map((index) => shareOf(total, { index, of: 3 }));
    assert.equal(
      shares.reduce((sum, share) => sum + share, 0),
      total,
    );
    assert.ok(Math.max(...shares) - Math.min(...shares) <= 1);
  }
});

test('in a sequence the processes together take each object once', () => {
  const taken = [0, 1, 2].flatMap((index) => {
    const part = { index, of: 3 };
    const next = orderOf({ ...step, order: 'sequential' }, 1000, part, new Prng(0, 1));
    return Array.from({ length: shareOf(1000, part) }, next);
  });
  assert.deepEqual(
    taken.sort((a, b) => a - b),
    Array.from({ length: 1000 }, (_, at) => at),
  );
});

for (const exponent of [0.5, 1, 1.5, 3]) {
  test(`ranks follow Zipf's law with exponent ${exponent}`, () => {
    const ranks = 200;
    const draws = 200_000;
    const zipf = new Zipf(ranks, exponent);
    const prng = new Prng(7, 7);
    const counts = new Array<number>(ranks).fill(0);
    for (let draw = 0; draw < draws; draw++) counts[zipf.draw(prng)]!++;
    const weights = counts.map((_, rank) => (rank + 1) ** -exponent);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    for (const [rank, weight] of weights.entries()) {
      const expected = (draws * weight) / total;
      const deviation = Math.abs(counts[rank]! - expected) / Math.sqrt(Math.max(1, expected));
      assert.ok(deviation < 6, `rank ${rank}: ${counts[rank]!} instead of ${expected}`);
    }
  });
}

test('the mix keeps to its shares, and a share of 0 never comes', () => {
  const exchanges = drawn(step, 20_000);
  const share = (name: string) =>
    exchanges.filter(({ operation }) => operation === name).length / exchanges.length;
  assert.ok(Math.abs(share('get') - 0.8) < 0.02);
  assert.ok(Math.abs(share('head') - 0.1) < 0.02);
  assert.equal(share('list'), 0);
});

test('random parts lie at multiples of the alignment and within the object, and reach both ends', () => {
  const range = { bytes: 2000, at: 'random', align: 1000 } as const;
  const gets = drawn({ ...step, range }, 2000).filter(({ operation }) => operation === 'get');
  const firsts = new Set(gets.map(({ first }) => first));
  assert.deepEqual(
    [...firsts].sort((a, b) => a - b),
    [0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000],
  );
  assert.ok(gets.every(({ bytes }) => bytes === 2000));
});

test('a part at the end ends with the object; one that is longer than the object is the object', () => {
  const [end] = drawn(
    {
      ...step,
      operations: { get: 1, head: 0, put: 0, list: 0 },
      range: { bytes: 300, at: 'end', align: 1 },
    },
    1,
  );
  assert.deepEqual([end!.first, end!.bytes], [9700, 300]);
  const [whole] = drawn({ ...step, range: { bytes: 20_000, at: 'end', align: 1 } }, 1);
  assert.deepEqual([whole!.first, whole!.bytes], [0, 10_000]);
});

test('the same seed draws the same requests, another seed others', () => {
  assert.deepEqual(drawn(step, 100), drawn(step, 100));
  assert.notDeepEqual(drawn(step, 100), drawn(step, 100, 2));
});
