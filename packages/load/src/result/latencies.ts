/** Latencies in microseconds as HDR histograms: three digits everywhere, mergeable, in the format that other tools read. */
import type { Histogram } from 'hdr-histogram-js';
import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64 } from 'hdr-histogram-js';

export type { Histogram };

const hourUs = 3_600_000_000;

export function newHistogram(digits: 2 | 3 = 3): Histogram {
  return build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: hourUs,
    numberOfSignificantValueDigits: digits,
    bitBucketSize: 32,
    useWebAssembly: false,
  });
}

export function record(histogram: Histogram, milliseconds: number): void {
  histogram.recordValue(Math.min(hourUs, Math.max(0, Math.round(milliseconds * 1000))));
}

/** A histogram as HdrHistogram's tools exchange it: compressed, in base64. */
export function encode(histogram: Histogram): string {
  return encodeIntoCompressedBase64(histogram);
}

export function decode(text: string): Histogram {
  return decodeFromCompressedBase64(text, 32, false);
}

/** What a report shows of a histogram, in microseconds, and the histogram itself. */
export interface Latency {
  readonly count: number;
  readonly meanUs: number;
  readonly p50Us: number;
  readonly p90Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
  readonly maxUs: number;
  readonly histogram: string;
}

export function latencyOf(histogram: Histogram): Latency {
  const at = (percentile: number): number => histogram.getValueAtPercentile(percentile);
  const count = histogram.totalCount;
  return {
    count,
    meanUs: count === 0 ? 0 : Math.round(histogram.mean),
    p50Us: at(50),
    p90Us: at(90),
    p99Us: at(99),
    p999Us: at(99.9),
    maxUs: histogram.maxValue,
    histogram: encode(histogram),
  };
}
