/** Runs a range of seeds on several threads. */
import type { SeedResult } from './seed-run.ts';
import { SeedWorker } from './seed-worker.ts';

const THREAD = new URL('seed-thread.ts', import.meta.url);
/** A default run takes a tenth of a second; on a busy machine ten times that. */
const SEED_LIMIT_MS = 120_000;

export interface SeedRange {
  readonly first: number;
  readonly count: number;
}

/** `onResult` hears of each seed as it ends: in any order. Once `stop` is aborted, those that have begun end and no more begin. */
export async function runSeeds(
  range: SeedRange,
  workers: number,
  onResult: (result: SeedResult) => void,
  stop: AbortSignal,
): Promise<void> {
  let next = range.first;
  const end = range.first + range.count;
  const work = async (): Promise<void> => {
    const worker = new SeedWorker(THREAD, SEED_LIMIT_MS);
    while (next < end && !stop.aborted) onResult(await worker.run(next++));
    await worker.close();
  };
  await Promise.all(Array.from({ length: Math.min(workers, range.count) }, work));
}
