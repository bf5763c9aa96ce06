/** Adds up what the workers of a step did. */
import type { Plan, StepPlan } from '../plan/plan.ts';
import { operations } from '../plan/plan.ts';
import type { HostUse } from '../result/host-meter.ts';
import type { Histogram } from '../result/latencies.ts';
import { decode, latencyOf, newHistogram } from '../result/latencies.ts';
import type { OperationResult, StepResult } from '../result/result.ts';
import type { ErrorCount, SecondCounts, WorkerShare } from '../worker/messages.ts';

/** `why` is '' for a step that wasn't ended early; `startAt` in milliseconds since 1970. */
export function addUp(
  plan: Plan,
  step: StepPlan,
  startAt: number,
  shares: readonly WorkerShare[],
  host: HostUse | null,
  why: string,
): StepResult {
  const timeline = timelineOf(shares);
  const measuredS = Math.max(0, ...shares.map(({ measuredMs }) => measuredMs)) / 1000;
  // Answers that came after the end have latencies, but are no part of the rate.
  const isWhole = step.durationS !== null && why === '';
  const seconds = isWhole ? step.durationS : measuredS;
  const counted = isWhole ? timeline.filter(({ second }) => second < seconds) : timeline;
  const total = (of: (second: SecondCounts) => number): number =>
    counted.reduce((sum, second) => sum + of(second), 0);
  const perSecond = (count: number): number => (seconds === 0 ? 0 : count / seconds);
  const ended = shares.reduce((sum, share) => sum + share.ended, 0);
  const cpuUs = shares.reduce((sum, share) => sum + share.cpuUs, 0);
  return {
    step,
    processes: plan.processes,
    isComplete: why === '',
    why,
    startedAt: new Date(startAt).toISOString(),
    seconds,
    requestsPerSecond: perSecond(total(({ requests }) => requests)),
    bytesPerSecond: perSecond(total(({ bytes }) => bytes)),
    operations: operationsOf(shares),
    wait: latencyOf(merged(shares.map(({ wait }) => wait))),
    errors: errorsOf(shares),
    timeline,
    host,
    generatorCpuUs: ended === 0 ? 0 : cpuUs / ended,
  };
}

function merged(encoded: readonly string[], digits: 2 | 3 = 3): Histogram {
  const sum = newHistogram(digits);
  for (const each of encoded) sum.add(decode(each));
  return sum;
}

function operationsOf(shares: readonly WorkerShare[]): OperationResult[] {
  return operations.flatMap((operation) => {
    const parts = shares.flatMap((share) =>
      share.operations.filter((each) => each.operation === operation),
    );
    if (parts.length === 0) return [];
    return {
      operation,
      requests: parts.reduce((sum, { requests }) => sum + requests, 0),
      bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      firstByte: latencyOf(merged(parts.map(({ firstByte }) => firstByte))),
      lastByte: latencyOf(merged(parts.map(({ lastByte }) => lastByte))),
    };
  });
}

/** The most frequent first. */
function errorsOf(shares: readonly WorkerShare[]): ErrorCount[] {
  const kinds = new Map<string, ErrorCount>();
  for (const { kind, count, example } of shares.flatMap(({ errors }) => errors)) {
    const known = kinds.get(kind);
    kinds.set(kind, {
      kind,
      count: count + (known?.count ?? 0),
      example: known?.example ?? example,
    });
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count);
}

/** Every second from 0 to the last, those without an event as well. */
function timelineOf(shares: readonly WorkerShare[]): SecondCounts[] {
  const all = shares.flatMap(({ seconds }) => seconds);
  const count = 1 + Math.max(-1, ...all.map(({ second }) => second));
  return Array.from({ length: count }, (_, second) => {
    const parts = all.filter((each) => each.second === second);
    const firstByte = merged(
      parts.map((part) => part.firstByte),
      2,
    );
    return {
      second,
      requests: parts.reduce((sum, part) => sum + part.requests, 0),
      errors: parts.reduce((sum, part) => sum + part.errors, 0),
      bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
      p50Us: firstByte.getValueAtPercentile(50),
      p99Us: firstByte.getValueAtPercentile(99),
    };
  });
}
