/** A small run of every generated trace, so that traces, policies and counts stay what they are. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { measureTrace, type TraceResult } from './measure.ts';
import { ALL_POLICIES } from './policies/all-policies.ts';
import { fingerprint } from './replay.ts';
import { judge } from './targets.ts';
import type { Trace } from './trace.ts';
import { churn } from './traces/churn.ts';
import { scan } from './traces/scan.ts';
import { sizeShift } from './traces/size-shift.ts';
import { zipf } from './traces/zipf.ts';

const MIB = 2 ** 20;
const capacityBytes = 512 * MIB;

const small: readonly Trace[] = [
  zipf({ capacityBytes, requests: 2_000, seed: 1 }),
  scan({ capacityBytes, hotShare: 0.5, hotReads: 2, scanReads: 1, seed: 1 }),
  scan({ capacityBytes, hotShare: 0.5, hotReads: 2, scanReads: 2, seed: 1 }),
  sizeShift({ capacityBytes: 64 * MIB, cachesEachPhase: 3, seed: 1 }),
  churn({ capacityBytes, objects: 100, requests: 2_000, readsEachNew: 20, seed: 1 }),
];

function measureAll(): readonly TraceResult[] {
  return small.map((trace) => measureTrace(trace, ALL_POLICIES, trace.capacityBytes));
}

test('a run has the same result every time and everywhere', () => {
  const fingerprints = measureAll().map(({ trace, results }) => [
    trace,
    ...results.map(({ counts }) => fingerprint(counts).toString(16)),
  ]);
  // In the order of ALL_POLICIES. A policy that decides otherwise changes its own column alone.
  deepEqual(fingerprints, [
    ['zipf', '15ec7c0d', 'b4e8220f', '37ae0a49', 'c471a390'],
    ['scan', '57231e19', '5124dbe1', 'a0733316', '6f332294'],
    ['scan-twice', 'd7b7a961', '3b4185b3', 'e75b4bd5', '4d559f1a'],
    ['size-shift', '6681a439', 'bc540fe9', 'a67eb287', '4391f06a'],
    ['churn', '57ea9ec2', '866d273e', '6532eb0', '5967d3e6'],
  ]);
});

test('what is read is served, from the cache or from S3, whatever the policy', () => {
  for (const { results } of measureAll()) {
    for (const { counts } of results) {
      equal(counts.servedBytes, results[0]!.counts.servedBytes);
      equal(counts.reads, results[0]!.counts.reads);
      ok(counts.fetchedBytes >= counts.servedBytes - counts.hitBytes);
      ok(counts.writtenBytes <= counts.fetchedBytes);
    }
  }
});

test('a scan costs the hot set nothing with ours, and a lot with LRU', () => {
  const { results } = measureAll()[1]!;
  equal(results.find(({ policy }) => policy === 'ours')!.counts.hotMissedBytes, 0);
  ok(results.find(({ policy }) => policy === 'lru')!.counts.hotMissedBytes > 100 * MIB);
});

test('targets are met or short by what was measured', () => {
  const met = judge(measureAll());
  equal(met.length, 4);
  ok(met[0]!.pass && met[1]!.pass);
  const spoiled = measureAll().map((result) => ({
    ...result,
    results: result.results.map(({ policy, counts }) => ({
      policy,
      counts:
        policy === 'ours'
          ? { ...counts, hitBytes: 0, hotMissedBytes: 1, writtenBytes: counts.servedBytes }
          : counts,
    })),
  }));
  deepEqual(
    judge(spoiled).map(({ pass }) => pass),
    [false, false, false, false],
  );
});

test('targets whose traces or policies were not measured are left out', () => {
  deepEqual(judge([]), []);
  const onlyLru = ALL_POLICIES.filter(({ name }) => name === 'lru');
  deepEqual(judge([measureTrace(small[1]!, onlyLru, capacityBytes)]), []);
});
