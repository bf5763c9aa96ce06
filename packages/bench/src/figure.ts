/** What a benchmark figure is: the words that the table, the JSON and BENCHMARKS.md share. */
import { median } from './load/percentiles.ts';

export interface FigureResult {
  /** P1, P2, … of the performance targets; a letter behind tells the parts of one apart. */
  readonly id: string;
  readonly title: string;
  readonly value: number;
  readonly unit: string;
  /** What must be reached, for a reader. */
  readonly target: string;
  /** The peer's figure in the same run, null without a peer. */
  readonly peer: number | null;
  readonly peerName: string;
  /** value / peer. */
  readonly ratio: number | null;
  /** Smallest and largest of the rounds. */
  readonly spread: readonly [number, number];
  /** How much of what the target allows is used: up to 1 passes. Null when nothing decides, or the target is 0. */
  readonly used: number | null;
  readonly pass: boolean;
  /** Anything else worth a line: rates, latencies, parts of a sum. */
  readonly note: string;
}

/** One system at one kind of request, beside others in the same run. */
export interface Comparison {
  readonly system: string;
  readonly isOurs: boolean;
  /** Such as "4 KiB". */
  readonly what: string;
  /** CPU microseconds of all its processes for a request: median, and the smallest and largest of the rounds. */
  readonly cpuUs: number;
  readonly spread: readonly [number, number];
  readonly requestsPerSecond: number;
  /** What it does less or otherwise; '' for nothing. */
  readonly note: string;
}

/** What a group of figures gives. */
export interface Outcome {
  readonly figures: readonly FigureResult[];
  readonly comparisons: readonly Comparison[];
}

/** This machine can't show the figure; the message says what it lacks. */
export class NotMeasurable extends Error {
  override readonly name = 'NotMeasurable';
}

/** A figure from its rounds: their median and spread, without a peer and without a verdict until one is given. */
export function figureOf(
  head: {
    readonly id: string;
    readonly title: string;
    readonly unit: string;
    readonly target: string;
  },
  rounds: readonly number[],
  rest: Partial<FigureResult> = {},
): FigureResult {
  const figure = {
    ...head,
    value: median(rounds),
    peer: null,
    peerName: '',
    ratio: null,
    spread: [Math.min(...rounds), Math.max(...rounds)] as const,
    used: null,
    note: '',
    ...rest,
  };
  return { pass: figure.used === null || figure.used <= 1, ...figure };
}
