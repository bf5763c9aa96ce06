/**
 * docs/benchmarks.json: the last figures of each kind with the run that gave them. BENCHMARKS.md and the plots are made from it,
 * so figures can be measured again one by one.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { Comparison, FigureResult } from '../figure.ts';
import type { Description } from '../machine/description.ts';

export interface RecordedRun extends Description {
  readonly command: string;
  /** Versions of the peers by name. */
  readonly peers: Readonly<Record<string, string>>;
  /** What spoke against believing it. */
  readonly warnings: readonly string[];
}

/** `run` is an index into the record's runs. */
interface OfRun {
  readonly run: number;
}

export interface BenchRecord {
  readonly runs: readonly RecordedRun[];
  readonly figures: readonly (FigureResult & OfRun)[];
  readonly comparisons: readonly (Comparison & OfRun)[];
}

export const emptyRecord: BenchRecord = { runs: [], figures: [], comparisons: [] };

export function readRecord(file: string): BenchRecord {
  if (!existsSync(file)) return emptyRecord;
  return JSON.parse(readFileSync(file, 'utf8')) as BenchRecord;
}

/** P4c is of P4. */
export const numberOf = (id: string): string => id.replace(/[a-z]$/, '');

/** Takes a run's results in, in place of older ones of the same number, and for comparisons of the same request. */
export function withRun(
  record: BenchRecord,
  run: RecordedRun,
  figures: readonly FigureResult[],
  comparisons: readonly Comparison[],
): BenchRecord {
  const numbers = new Set(figures.map(({ id }) => numberOf(id)));
  const requests = new Set(comparisons.map(({ what }) => what));
  const at = record.runs.length;
  const merged: BenchRecord = {
    runs: [...record.runs, run],
    figures: [
      ...record.figures.filter(({ id }) => !numbers.has(numberOf(id))),
      ...figures.map((figure) => ({ ...figure, run: at })),
    ].sort((a, b) => order(a.id) - order(b.id) || (a.id < b.id ? -1 : 1)),
    comparisons: [
      ...record.comparisons.filter(({ what }) => !requests.has(what)),
      ...comparisons.map((comparison) => ({ ...comparison, run: at })),
    ].sort((a, b) => bytesOf(a.what) - bytesOf(b.what) || a.cpuUs - b.cpuUs),
  };
  return withoutUnusedRuns(merged);
}

const order = (id: string): number => Number(/\d+/.exec(id)?.[0] ?? Number.NaN);

/** "64 KiB", "16 MiB object" → bytes, for their order. */
function bytesOf(what: string): number {
  const [, count = '0', unit = ''] = /(\d+) (KiB|MiB)/.exec(what) ?? [];
  return Number(count) * (unit === 'MiB' ? 2 ** 20 : 2 ** 10);
}

function withoutUnusedRuns({ runs, figures, comparisons }: BenchRecord): BenchRecord {
  const used = [...new Set([...figures, ...comparisons].map(({ run }) => run))].sort(
    (a, b) => a - b,
  );
  const renumbered = <T extends OfRun>(each: T): T => ({ ...each, run: used.indexOf(each.run) });
  return {
    runs: used.map((run) => runs[run]!),
    figures: figures.map(renumbered),
    comparisons: comparisons.map(renumbered),
  };
}
