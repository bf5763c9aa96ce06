/** What a benchmark figure is: the words that the table, the JSON and BENCHMARKS.md share. */

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
  readonly pass: boolean;
  /** Anything else worth a line: rates, latencies, parts of a sum. */
  readonly note: string;
}

/** How long and how large: chosen on the command line. */
export interface Scale {
  readonly rounds: number;
  /** Requests of one round of small reads. */
  readonly requests: number;
  /** Distinct 64 KiB objects. */
  readonly objects: number;
  /** Objects of 256 MiB whose 4 KiB ranges are read: 65,536 ranges each. */
  readonly largeObjects: number;
  /** Blocks of a full cache. */
  readonly blocks: number;
}

export const fullScale: Scale = {
  rounds: 3,
  requests: 300_000,
  objects: 100_000,
  largeObjects: 2,
  blocks: 4 << 20,
};
export const quickScale: Scale = {
  rounds: 2,
  requests: 60_000,
  objects: 4_000,
  largeObjects: 1,
  blocks: 1 << 20,
};
