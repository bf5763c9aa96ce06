/** The result of a run: what `run` writes as JSON and what `report` and `chart` read. No secret is in it. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { DatasetPlan, Operation, StepPlan } from '../plan/plan.ts';
import type { ErrorCount, SecondCounts } from '../worker/messages.ts';
import type { HostUse } from './host-meter.ts';
import type { Latency } from './latencies.ts';

export const resultFormat = 's3-accelerator-load 1';

export interface RunResult {
  readonly format: typeof resultFormat;
  /** False when a step is missing, or ended early; `why` says so. */
  readonly isComplete: boolean;
  readonly why: string;
  readonly planFile: string;
  readonly endpoint: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly machine: Machine;
  readonly datasets: readonly DatasetPlan[];
  readonly steps: readonly StepResult[];
}

export interface Machine {
  readonly kernel: string;
  readonly processors: number;
  readonly model: string;
  readonly node: string;
}

export interface OperationResult {
  readonly operation: Operation;
  readonly requests: number;
  /** Of bodies. */
  readonly bytes: number;
  /** From when a request was due until the answer's first byte, and its last. */
  readonly firstByte: Latency;
  readonly lastByte: Latency;
}

export interface StepResult {
  readonly step: StepPlan;
  readonly processes: number;
  readonly isComplete: boolean;
  readonly why: string;
  readonly startedAt: string;
  /** Of the measured part. */
  readonly seconds: number;
  readonly requestsPerSecond: number;
  readonly bytesPerSecond: number;
  readonly operations: readonly OperationResult[];
  /** How long requests waited in the generator after they were due. */
  readonly wait: Latency;
  readonly errors: readonly ErrorCount[];
  readonly timeline: readonly SecondCounts[];
  /** The machine that the generator ran on; null when it couldn't be measured. */
  readonly host: HostUse | null;
  /** CPU time of the generator's processes, by request, warm-up and failures included. */
  readonly generatorCpuUs: number;
}

/** Whether every request of the run got the right answer and the plan was done. */
export function isClean(result: RunResult): boolean {
  return result.isComplete && result.steps.every(({ errors }) => errors.length === 0);
}

/** Writes a result, the whole file or nothing. */
export function writeResult(file: string, result: RunResult): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(result, null, 1)}\n`);
  renameSync(`${file}.new`, file);
}

/** A file that isn't a result, or can't be read. */
export class ResultError extends Error {
  override readonly name = 'ResultError';
}

/** Throws ResultError. */
export function loadResult(file: string): RunResult {
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ResultError(`${file} can't be read: ${(error as Error).message}`);
  }
  if (typeof read !== 'object' || read === null || !('format' in read)) {
    throw new ResultError(`${file} is no result of s3-accelerator-load`);
  }
  if (read.format !== resultFormat) {
    throw new ResultError(
      `${file} has format ${String(read.format)}; this version reads ${resultFormat}`,
    );
  }
  return read as RunResult;
}
