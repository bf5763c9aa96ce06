/** A result as a page of Markdown. */
import { markdownTable } from 's3-accelerator/config/markdown-table.ts';
import type { StepPlan } from '../plan/plan.ts';
import { operations } from '../plan/plan.ts';
import { formatBytes, formatCount, formatLatency, formatShare } from './amounts.ts';
import type { HostUse } from './host-meter.ts';
import type { Latency } from './latencies.ts';
import type { RunResult, StepResult } from './result.ts';

export function markdownOf(result: RunResult): string {
  const { machine } = result;
  const partial = result.isComplete ? '' : `\n**Partial: ${result.why}.**\n`;
  return [
    `# Load on ${result.endpoint}\n${partial}`,
    `Plan ${result.planFile}, ${result.startedAt}. Generator: ${machine.processors} × ${machine.model}, ` +
      `Linux ${machine.kernel}, Node ${machine.node}.\n`,
    summaryTable(result.steps),
    ...result.steps.map(stepSection),
  ].join('\n');
}

function summaryTable(steps: readonly StepResult[]): string {
  return markdownTable(
    ['step', 'requests/s', 'bytes/s', 'errors', 'generator CPU a request'],
    steps.map((each) => [
      each.step.name + (each.isComplete ? '' : ' (partial)'),
      formatCount(each.requestsPerSecond),
      formatBytes(each.bytesPerSecond),
      formatCount(each.errors.reduce((sum, { count }) => sum + count, 0)),
      formatLatency(each.generatorCpuUs),
    ]),
  );
}

function stepSection(result: StepResult): string {
  const partial = result.isComplete ? '' : `**Partial: ${result.why}.**\n\n`;
  const parts = [
    `## ${result.step.name}\n\n${partial}${aboutStep(result)}\n`,
    latencyTable(result),
    ...(result.errors.length === 0 ? ['No errors.\n'] : [errorTable(result)]),
    ...(result.host === null ? [] : [hostLine(result.host, result.seconds)]),
    timelineTable(result),
  ];
  return parts.join('\n');
}

function aboutStep({ step, processes, seconds }: StepResult): string {
  const mix = operations
    .filter((name) => step.operations[name] > 0)
    .map((name) => `${step.operations[name]} ${name.toUpperCase()}`)
    .join(' : ');
  const pace = step.rate === null ? 'closed loop' : `${formatCount(step.rate)} requests/s due`;
  return `${mix}${aboutRange(step)}, ${step.order}, dataset ${step.dataset}; ${counted(step.connections, 'connection')}, ${counted(processes, 'process')}, ${pace}, ${seconds.toFixed(1)} s after ${step.warmUpS} s of warm-up, verified: ${step.verify}.`;
}

function counted(count: number, what: string): string {
  const plural = what.endsWith('s') ? `${what}es` : `${what}s`;
  return `${formatCount(count)} ${count === 1 ? what : plural}`;
}

function aboutRange({ range }: StepPlan): string {
  return range === null ? '' : ` of ${formatBytes(range.bytes)} at ${range.at}`;
}

function latencyTable({ operations: results, wait, step }: StepResult): string {
  const row = (name: string, latency: Latency): string[] => [
    name,
    formatCount(latency.count),
    ...[latency.p50Us, latency.p90Us, latency.p99Us, latency.p999Us, latency.maxUs].map(
      formatLatency,
    ),
  ];
  const rows = results.flatMap(({ operation, firstByte, lastByte }) => [
    row(`${operation.toUpperCase()} first byte`, firstByte),
    row(`${operation.toUpperCase()} last byte`, lastByte),
  ]);
  const late = step.rate === null ? [] : [row('sent after due', wait)];
  return markdownTable(
    ['latency', 'count', 'p50', 'p90', 'p99', 'p99.9', 'max'],
    [...rows, ...late],
  );
}

function errorTable({ errors }: StepResult): string {
  return markdownTable(
    ['errors', 'count', 'the first'],
    errors.map(({ kind, count, example }) => [kind, formatCount(count), example]),
  );
}

function hostLine(host: HostUse, seconds: number): string {
  const rate = (bytes: number): string => `${formatBytes(seconds === 0 ? 0 : bytes / seconds)}/s`;
  const lost = host.sentSegments === 0 ? 0 : host.retransmittedSegments / host.sentSegments;
  const card = Object.entries(host.card).map(([name, count]) => `, ${name} ${formatCount(count)}`);
  return (
    `The generator's host: CPU ${formatShare(host.cpu)}, received ${rate(host.receivedBytes)}, ` +
    `sent ${rate(host.sentBytes)}, ${formatCount(host.retransmittedSegments)} retransmissions ` +
    `(${(lost * 100).toFixed(3)}%), ${formatCount(host.tcpTimeouts)} TCP timeouts, ` +
    `${formatCount(host.droppedPackets + host.backlogDrops)} packets dropped${card.join('')}.\n`
  );
}

/** Longer steps are shown in as many equal parts. */
const maxTimelineRows = 30;

function timelineTable({ timeline, host }: StepResult): string {
  const stride = Math.max(1, Math.ceil(timeline.length / maxTimelineRows));
  const rows = timeline
    .filter(({ second }) => second % stride === 0)
    .map((each) => [
      String(each.second),
      formatCount(each.requests),
      formatBytes(each.bytes),
      formatLatency(each.p50Us),
      formatLatency(each.p99Us),
      formatCount(each.errors),
      host?.cpuBySecond[each.second] === undefined
        ? ''
        : formatShare(host.cpuBySecond[each.second]!),
    ]);
  const head = ['second', 'requests', 'bytes', 'first byte p50', 'p99', 'errors', 'host CPU'];
  return markdownTable(head, rows);
}
