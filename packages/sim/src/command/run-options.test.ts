/** Options as text: what differs from a seed's own, there and back. */
import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { optionsOf, type RunOptions } from '../options.ts';
import { PLAIN_RUN } from '../plain-run.ts';
import { differenceOf, withDifference } from './run-options.ts';

const drawn = optionsOf(42);

test('only what differs is told, and what is told is taken back', () => {
  const changed: RunOptions = {
    ...drawn,
    cluster: { ...drawn.cluster, nodes: 9, sizes: { ...drawn.cluster.sizes, blockBytes: 4096 } },
    faults: { ...drawn.faults, crashMs: Infinity, partitionMs: 7 },
    buckets: [{ ...drawn.buckets[0]!, ttlMs: 3 }],
  };
  const text = differenceOf({ ...drawn, faults: { ...drawn.faults, crashMs: 1 } }, changed);
  const difference = JSON.parse(text) as Record<string, Record<string, unknown>>;
  deepEqual(difference['cluster'], { nodes: 9, sizes: { blockBytes: 4096 } });
  deepEqual(difference['faults'], { crashMs: 'never', partitionMs: 7 });
  deepEqual(withDifference(drawn, text), changed);
});

test('nothing differs, nothing is told', () => {
  equal(differenceOf(drawn, optionsOf(42)), '{}');
  deepEqual(withDifference(drawn, '{}'), drawn);
});

test('what seeds draw, and what runs are made smaller to, is within the limits', () => {
  for (let seed = 0; seed < 200; seed++) {
    const options = optionsOf(seed);
    const own = { ...options, seed: 42 };
    deepEqual(withDifference(drawn, differenceOf(drawn, own)), own);
  }
  const plain: RunOptions = { ...drawn, ...PLAIN_RUN };
  deepEqual(withDifference(drawn, differenceOf(drawn, plain)), plain);
});

test('options that a run doesn’t have are refused by name', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{', /--options is no JSON/],
    ['[]', /--options is an object of options/],
    ['{"seed":1}', /without the seed/],
    ['{"frob":1}', /no option is called frob/],
    ['{"cluster":{"frob":1}}', /no option is called cluster.frob/],
    ['{"cluster":{"nodes":"two"}}', /option cluster.nodes is a whole number from 1 to 16/],
    ['{"cluster":{"nodes":-1}}', /option cluster.nodes is a whole number/],
    ['{"cluster":{"nodes":1.5}}', /option cluster.nodes is a whole number/],
    ['{"cluster":{"sizes":{"blockBytes":5000}}}', /blockBytes is a power of two/],
    ['{"cluster":{"sizes":{"blockBytes":4096,"chunkBytes":5000}}}', /no whole blocks of 4096/],
    ['{"cluster":{"storeBytes":4096,"sizes":{"blockBytes":8192}}}', /has no room for a block/],
    ['{"workload":{"requests":"never"}}', /option workload.requests is a whole number/],
    ['{"workload":{"headPercent":101}}', /headPercent is a number from 0 to 100$/],
    ['{"faults":{"crashMs":0}}', /crashMs is a number from 1 to 1000000000, or "never"/],
    ['{"buckets":[{"ttlMs":"never"}]}', /buckets\[0\].ttlMs is a number from 0/],
    ['{"cluster":7}', /option cluster is of another kind/],
    ['{"buckets":[]}', /option buckets is of another kind/],
    ['{"buckets":[{"frob":1}]}', /no option is called buckets\[0\].frob/],
    ['{"buckets":[{"immutable":1}]}', /option buckets\[0\].immutable is of another kind/],
    ['{"toString":1}', /no option is called toString/],
  ];
  for (const [text, message] of cases) {
    throws(() => withDifference(drawn, text), { name: 'ArgumentError', message }, text);
  }
});
