// A result on its way to a reader: its file, its page, its picture.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { formatBytes, formatCount, formatLatency } from './amounts.ts';
import { chartOf } from './chart.ts';
import { readHostCounters } from './host-counters.ts';
import { decode, latencyOf, newHistogram, record } from './latencies.ts';
import { markdownOf } from './markdown.ts';
import type { RunResult, StepResult } from './result.ts';
import { ResultError, isClean, loadResult, resultFormat, writeResult } from './result.ts';

const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-load-'));
after(() => rmSync(directory, { recursive: true }));

const latencies = newHistogram();
for (let ms = 1; ms <= 1000; ms++) record(latencies, ms);

const step: StepResult = {
  step: {
    name: 'reads <of> all',
    dataset: 'small',
    operations: { get: 3, head: 1, put: 0, list: 0 },
    range: { bytes: 65_536, at: 'end', align: 1 },
    order: 'zipf',
    zipfExponent: 1,
    connections: 8,
    rate: 500,
    durationS: 2,
    requests: null,
    warmUpS: 1,
    timeoutMs: 1000,
    verify: 'all',
    signPayload: false,
  },
  processes: 1,
  isComplete: true,
  why: '',
  startedAt: '2026-01-02T03:04:05.000Z',
  seconds: 2,
  requestsPerSecond: 500,
  bytesPerSecond: 32_768_000,
  operations: [
    {
      operation: 'get',
      requests: 1000,
      bytes: 65_536_000,
      firstByte: latencyOf(latencies),
      lastByte: latencyOf(latencies),
    },
  ],
  wait: latencyOf(newHistogram()),
  errors: [],
  timeline: [0, 1].map((second) => ({
    second,
    requests: 500,
    errors: second,
    bytes: 32_768_000,
    p50Us: 700,
    p99Us: 15_000,
  })),
  host: {
    cpu: 0.5,
    receivedBytes: 65_536_000,
    sentBytes: 1_000_000,
    sentSegments: 10_000,
    retransmittedSegments: 5,
    tcpTimeouts: 1,
    droppedPackets: 2,
    backlogDrops: 1,
    card: { 'eth0 bw_in_allowance_exceeded': 17 },
    cpuBySecond: [0.4, 0.6],
  },
  generatorCpuUs: 12.3,
};
const result: RunResult = {
  format: resultFormat,
  isComplete: true,
  why: '',
  planFile: 'plan.toml',
  endpoint: 'http://127.0.0.1:9000',
  startedAt: '2026-01-02T03:04:05.000Z',
  machine: { kernel: '6.1', processors: 2, model: 'a processor', node: '24' },
  datasets: [],
  steps: [step],
};

test('latencies keep three digits, and are the same after a journey', () => {
  const { p50Us, p99Us, maxUs, count, histogram } = latencyOf(latencies);
  for (const [value, expected] of [
    [p50Us, 500_000],
    [p99Us, 990_000],
    [maxUs, 1_000_000],
  ] as const) {
    assert.ok(Math.abs(value / expected - 1) < 0.001, `${value} for ${expected}`);
  }
  assert.equal(count, 1000);
  assert.equal(decode(histogram).getValueAtPercentile(99), p99Us);
});

test('a result comes back from its file as it was, and nothing else lies beside it', () => {
  const file = join(directory, 'a.json');
  writeResult(file, result);
  assert.deepEqual(loadResult(file), result);
  assert.deepEqual(readdirSync(directory), ['a.json']);
});

test('a file that is no result is refused', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{}', /no result of s3-accelerator-load/],
    ['[', /can't be read/],
    ['{"format": "s3-accelerator-load 99"}', /has format s3-accelerator-load 99; this version/],
  ];
  for (const [text, message] of cases) {
    const file = join(directory, 'other.json');
    writeFileSync(file, text);
    assert.throws(
      () => loadResult(file),
      (error) => error instanceof ResultError && message.test(error.message),
    );
  }
  assert.throws(() => loadResult(join(directory, 'missing.json')), ResultError);
});

test('a result with errors, or a partial one, is not clean', () => {
  assert.ok(isClean(result));
  assert.ok(!isClean({ ...result, isComplete: false }));
  const errors = [{ kind: '503 SlowDown', count: 1, example: 'GET a' }];
  assert.ok(!isClean({ ...result, steps: [{ ...step, errors }] }));
});

test('the page tells what was done, what came of it, and what the host did', () => {
  const page = markdownOf(result);
  for (const line of [
    /^\| reads <of> all \| 500 +\| 31\.3 MiB \| 0 +\| 12 µs +\|$/m,
    /^3 GET : 1 HEAD of 64\.0 KiB at end, zipf, dataset small; 8 connections, 1 process, 500 requests\/s due, 2\.0 s after 1 s of warm-up, verified: all\.$/m,
    /^\| GET first byte \| 1,000 \| 500 ms \| /m,
    /^\| sent after due \| 0 +\|/m,
    /CPU 50%, received 31\.3 MiB\/s, .* 5 retransmissions \(0\.050%\), 1 TCP timeouts, 3 packets dropped, eth0 bw_in_allowance_exceeded 17\./,
    /^\| 1 +\| 500 +\| 31\.3 MiB \| 700 µs +\| 15\.0 ms \| 1 +\| 60% +\|$/m,
  ]) {
    assert.match(page, line);
  }
  const partial = markdownOf({ ...result, isComplete: false, why: 'interrupted' });
  assert.match(partial, /^\*\*Partial: interrupted\.\*\*$/m);
});

test('the picture is whole, with text as text and numbers as numbers', () => {
  for (const drawn of [chartOf(result), chartOf({ ...result, steps: [emptied(step)] })]) {
    assert.match(drawn, /^<svg [^>]*>.*<\/svg>\n$/s);
    assert.ok(drawn.includes('reads &lt;of&gt; all'));
    assert.ok(!/NaN|Infinity|undefined/.test(drawn));
  }
});

/** A step in which nothing was answered. */
function emptied(whole: StepResult): StepResult {
  return { ...whole, operations: [], timeline: [], requestsPerSecond: 0, bytesPerSecond: 0 };
}

test('amounts are short', () => {
  assert.deepEqual([0, 1.5, 12, 12_345.6].map(formatCount), ['0', '1.50', '12', '12,346']);
  assert.deepEqual([0, 1023, 1536, 200 * 2 ** 20].map(formatBytes), [
    '0 bytes',
    '1023 bytes',
    '1.5 KiB',
    '200 MiB',
  ]);
  assert.deepEqual([0, 999, 1234, 123_456, 2e6].map(formatLatency), [
    '0 µs',
    '999 µs',
    '1.23 ms',
    '123 ms',
    '2.00 s',
  ]);
});

test('the host can be measured', () => {
  const before = readHostCounters();
  assert.ok(before !== null && before.allTicks > before.busyTicks);
  assert.ok(before.sentSegments > 0);
});
