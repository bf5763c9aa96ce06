/** Options as text: what differs from a seed's own, there and back. */
import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { optionsOf, type RunOptions } from '../options.ts';
import { differenceOf, withDifference } from './run-options.ts';

const drawn = optionsOf(42);

test('only what differs is told, and what is told is taken back', () => {
  const changed: RunOptions = {
    ...drawn,
    cluster: { ...drawn.cluster, nodes: 9, sizes: { ...drawn.cluster.sizes, blockBytes: 512 } },
    faults: { ...drawn.faults, crashMs: Infinity, partitionMs: 7 },
    buckets: [{ ...drawn.buckets[0]!, ttlMs: 3 }],
  };
  const text = differenceOf({ ...drawn, faults: { ...drawn.faults, crashMs: 1 } }, changed);
  const difference = JSON.parse(text) as Record<string, Record<string, unknown>>;
  deepEqual(difference['cluster'], { nodes: 9, sizes: { blockBytes: 512 } });
  deepEqual(difference['faults'], { crashMs: 'never', partitionMs: 7 });
  deepEqual(withDifference(drawn, text), changed);
});

test('nothing differs, nothing is told', () => {
  equal(differenceOf(drawn, optionsOf(42)), '{}');
  deepEqual(withDifference(drawn, '{}'), drawn);
});

test('options that a run doesn’t have are refused by name', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{', /--options is no JSON/],
    ['[]', /--options is an object of options/],
    ['{"seed":1}', /without the seed/],
    ['{"frob":1}', /no option is called frob/],
    ['{"cluster":{"frob":1}}', /no option is called cluster.frob/],
    ['{"cluster":{"nodes":"two"}}', /option cluster.nodes is a number/],
    ['{"cluster":{"nodes":-1}}', /option cluster.nodes is a number from 0 on/],
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
