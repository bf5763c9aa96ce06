/** One measured run: the client's view and the servers' CPU time. */
import { join } from 'node:path';
import { clientPrefix, runToEnd } from './machine/child.ts';
import type { LoadJob, LoadResult } from './load/job.ts';
import { CpuMeter } from './machine/process-cpu.ts';

/** The load client: reads a LoadJob, prints a LoadResult. */
export const loadClient = join(import.meta.dirname, 'load/main.ts');

export interface Measured extends LoadResult {
  /** CPU microseconds of the servers for each request. */
  readonly cpuUs: number;
  /** The same of each process. */
  readonly cpuUsOf: readonly number[];
  readonly requestsPerSecond: number;
  readonly bytesPerSecond: number;
}

/** Runs a job and charges the CPU time that `pids` used meanwhile to its requests. Throws on any wrong answer. */
export async function measure(job: LoadJob, pids: readonly number[]): Promise<Measured> {
  const meter = new CpuMeter(pids);
  const printed = await runToEnd(clientPrefix, [process.execPath, loadClient], JSON.stringify(job));
  const used = meter.used();
  const result = JSON.parse(printed) as LoadResult;
  const cpuUsOf = used.map((seconds) => (seconds * 1e6) / result.requests);
  if (result.errors > 0) {
    throw new Error(
      `${result.errors} requests failed on port ${job.port}; the first: ${result.firstError}`,
    );
  }
  return {
    ...result,
    cpuUs: cpuUsOf.reduce((sum, us) => sum + us, 0),
    cpuUsOf,
    requestsPerSecond: result.requests / result.seconds,
    bytesPerSecond: result.bytes / result.seconds,
  };
}
