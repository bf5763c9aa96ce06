/** Results of the lab as tables for people and as one object for programs. */
import CliTable from 'cli-table3';
import { byteHitRatio, writtenPerByte, type TraceResult } from './measure.ts';
import { fingerprint } from './replay.ts';
import type { Target } from './targets.ts';

const GIB = 2 ** 30;
const MIB = 2 ** 20;

/** A trace's table: a row for each policy. */
export function renderTrace({ trace, about, capacityBytes, results }: TraceResult): string {
  const table = new CliTable({
    head: [
      'policy',
      'byte hit ratio',
      'GETs to S3',
      'GiB from S3',
      'GiB written',
      'written a byte served',
      'hot MiB from S3',
      'result',
    ],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [] },
  });
  for (const { policy, counts } of results) {
    table.push([
      policy,
      `${(100 * byteHitRatio(counts)).toFixed(2)} %`,
      counts.gets,
      (counts.fetchedBytes / GIB).toFixed(1),
      (counts.writtenBytes / GIB).toFixed(1),
      writtenPerByte(counts).toFixed(4),
      (counts.hotMissedBytes / MIB).toFixed(1),
      fingerprint(counts).toString(16).padStart(8, '0'),
    ]);
  }
  const { reads, servedBytes } = results[0]!.counts;
  const size = `${reads} reads, ${(servedBytes / GIB).toFixed(1)} GiB, cache ${(capacityBytes / GIB).toFixed(1)} GiB`;
  return `${trace}: ${about}\n${size}\n${table.toString()}`;
}

/** A line for each target; empty when there are none. */
export function renderTargets(targets: readonly Target[]): string {
  return targets
    .map(({ title, value, limit, pass }) => {
      const figure = Number.isInteger(value) ? `${value}` : value.toFixed(4);
      return `${pass ? 'pass ' : 'short'}  ${title}: ${figure}, must be ${limit}`;
    })
    .join('\n');
}

/** `{"traces": […], "targets": […]}`. */
export function asJson(results: readonly TraceResult[], targets: readonly Target[]): string {
  const traces = results.map(({ results: policies, ...trace }) => ({
    ...trace,
    policies: policies.map(({ policy, counts }) => ({
      policy,
      byteHitRatio: byteHitRatio(counts),
      writtenPerByte: writtenPerByte(counts),
      ...counts,
      result: fingerprint(counts).toString(16).padStart(8, '0'),
    })),
  }));
  return JSON.stringify({ traces, targets });
}
