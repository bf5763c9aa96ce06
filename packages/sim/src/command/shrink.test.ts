/** Shrinking, judged by what makes a run fail: here that is known. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { optionsOf, type RunOptions } from '../options.ts';
import { PLAIN_RUN } from '../plain-run.ts';
import { shrink } from './shrink.ts';

const seedRun = optionsOf(42);
const drawn: RunOptions = {
  ...seedRun,
  cluster: { ...seedRun.cluster, nodes: 5, gateways: 3 },
  faults: { ...seedRun.faults, crashMs: 500, originPercent: 30, linkResetMs: 100 },
};

test('what doesn’t matter to the failure becomes plain', () => {
  const { options } = shrink(drawn, () => true, 1_000);
  const { seed, buckets, ...rest } = options;
  deepEqual(rest, PLAIN_RUN);
  equal(buckets.length, 1);
  equal(seed, 42);
});

test('what matters stays', () => {
  const fails = ({ faults, cluster, workload, buckets }: RunOptions): boolean =>
    faults.crashMs < Infinity &&
    cluster.nodes > 1 &&
    workload.requests >= 100 &&
    buckets.some(({ name }) => name === 'slow');
  const { options } = shrink(drawn, fails, 1_000);
  ok(fails(options));
  ok(options.workload.requests < 115, `${options.workload.requests} requests`);
  deepEqual(
    options.buckets.map(({ name }) => name),
    ['slow'],
  );
  deepEqual(options.faults, { ...PLAIN_RUN.faults, crashMs: 500 });
  deepEqual(options.cluster, { ...PLAIN_RUN.cluster, nodes: 5 });
});

test('a change that works only after another one is found in a later round', () => {
  const fails = ({ faults, cluster }: RunOptions): boolean =>
    faults.originPercent > 0 || cluster.gateways === 1;
  equal(shrink(drawn, fails, 1_000).options.faults.originPercent, 0);
});

test('it gives up after so many tries, with the smallest run so far', () => {
  const heard: number[] = [];
  const { options, tries } = shrink(
    drawn,
    () => true,
    2,
    (_, tried) => heard.push(tried),
  );
  equal(tries, 2);
  deepEqual(heard, [1, 2]);
  ok(options.workload.requests < drawn.workload.requests / 60);
});
