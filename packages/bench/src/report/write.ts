/** Writes what a run measured to where readers find it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as prettier from 'prettier';
import { withFigures } from './page.ts';
import { plotsOf } from './plots.ts';
import { readRecord, withRun, type BenchRecord, type RecordedRun } from './record.ts';
import type { Comparison, FigureResult } from '../figure.ts';

const root = join(import.meta.dirname, '../../../..');
export const recordFile = join(root, 'docs/benchmarks.json');
export const pageFile = join(root, 'BENCHMARKS.md');
export const plotsDirectory = join(root, 'docs/plots');

/** Adds a run to docs/benchmarks.json, then makes BENCHMARKS.md and the plots anew. */
export async function writeResults(
  run: RecordedRun,
  figures: readonly FigureResult[],
  comparisons: readonly Comparison[],
): Promise<void> {
  const record = withRun(readRecord(recordFile), run, figures, comparisons);
  writeFileSync(recordFile, await prettier.format(JSON.stringify(record), { parser: 'json' }));
  writeFileSync(pageFile, await pageFor(readFileSync(pageFile, 'utf8'), record));
  mkdirSync(plotsDirectory, { recursive: true });
  for (const { name, svg } of await plotsOf(record)) {
    writeFileSync(join(plotsDirectory, `${name}.svg`), svg);
  }
}

/** The page as it must read, in the layout that the format check wants. */
export async function pageFor(page: string, record: BenchRecord): Promise<string> {
  const config = await prettier.resolveConfig(pageFile);
  return prettier.format(withFigures(page, record), { ...config, parser: 'markdown' });
}
