/** What the fixed traces must reach. */
import { byteHitRatio, writtenPerByte, type TraceResult } from './measure.ts';
import type { ReplayCounts } from './replay.ts';

export interface Target {
  readonly title: string;
  readonly value: number;
  /** What the value must keep to, in words. */
  readonly limit: string;
  readonly pass: boolean;
}

const LEAST_ZIPF_HIT_RATIO = 0.684;
const MOST_ZIPF_WRITTEN = 0.117;

/** Judges results of the fixed traces; those whose trace or policy wasn't measured are left out. */
export function judge(results: readonly TraceResult[]): readonly Target[] {
  const targets: Target[] = [];
  const ours = (trace: string): Readonly<ReplayCounts> | null => countsOf(results, trace, 'ours');
  const scanned = ours('scan');
  if (scanned !== null) {
    const value = scanned.hotMissedBytes;
    targets.push({
      title: 'scan: hot bytes read again from S3',
      value,
      limit: '0',
      pass: value === 0,
    });
  }
  const lru = countsOf(results, 'scan', 'lru');
  if (scanned !== null && lru !== null) {
    const [value, other] = [byteHitRatio(scanned), byteHitRatio(lru)];
    const limit = `> ${other.toFixed(4)} (LRU)`;
    targets.push({ title: 'scan: byte hit ratio', value, limit, pass: value > other });
  }
  const reread = ours('zipf');
  if (reread !== null) {
    const ratio = byteHitRatio(reread);
    targets.push({
      title: 'zipf: byte hit ratio',
      value: ratio,
      limit: `≥ ${LEAST_ZIPF_HIT_RATIO}`,
      pass: ratio >= LEAST_ZIPF_HIT_RATIO,
    });
    const written = writtenPerByte(reread);
    targets.push({
      title: 'zipf: bytes written a byte served',
      value: written,
      limit: `≤ ${MOST_ZIPF_WRITTEN}`,
      pass: written <= MOST_ZIPF_WRITTEN,
    });
  }
  return targets;
}

function countsOf(
  results: readonly TraceResult[],
  trace: string,
  policy: string,
): Readonly<ReplayCounts> | null {
  const result = results.find((each) => each.trace === trace);
  return result?.results.find((each) => each.policy === policy)?.counts ?? null;
}
