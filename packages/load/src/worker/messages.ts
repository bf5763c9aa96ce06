/** What the command and its workers say to each other. Plain JSON. */
import type { ServerAddress } from '../http/address.ts';
import type { DatasetPlan, Endpoint, Operation, StepPlan } from '../plan/plan.ts';
import type { Part } from '../workload/order.ts';

/** One worker's part of a step. */
export interface StepJob {
  readonly endpoint: Endpoint;
  readonly address: ServerAddress;
  readonly dataset: DatasetPlan;
  readonly step: StepPlan;
  readonly part: Part;
  readonly seed: number;
}

export type ToWorker =
  | { readonly kind: 'prepare'; readonly job: StepJob }
  /** Milliseconds since 1970. */
  | { readonly kind: 'go'; readonly startAt: number }
  /** Send nothing more, wait for what is under way, tell what came of it. */
  | { readonly kind: 'stop' };

export type FromWorker =
  /** Every connection was opened, or failed: `failure` is then one of the reasons. */
  | { readonly kind: 'ready'; readonly opened: number; readonly failure: string }
  | { readonly kind: 'second'; readonly second: SecondCounts }
  /** The first answer that was wrong: other bytes, another length, another listing. */
  | { readonly kind: 'wrong' }
  | { readonly kind: 'done'; readonly share: WorkerShare };

/** What was finished within one second. The measured part begins at second 0. */
export interface SecondCounts {
  readonly second: number;
  readonly requests: number;
  readonly errors: number;
  /** Of bodies, received or sent. */
  readonly bytes: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

export interface ErrorCount {
  readonly kind: string;
  readonly count: number;
  /** The first of them. */
  readonly example: string;
}

export interface OperationShare {
  readonly operation: Operation;
  readonly requests: number;
  readonly bytes: number;
  /** Histograms, encoded. */
  readonly firstByte: string;
  readonly lastByte: string;
}

/** What one worker did in a step. */
export interface WorkerShare {
  readonly operations: readonly OperationShare[];
  /** How long requests waited after they were due; encoded. */
  readonly wait: string;
  readonly errors: readonly ErrorCount[];
  /** With the latencies to the first byte, encoded. */
  readonly seconds: readonly (SecondCounts & { readonly firstByte: string })[];
  /** Requests that ended, with those of the warm-up and those that failed. */
  readonly ended: number;
  readonly cpuUs: number;
  /** From the beginning of the measured part to the last answer. */
  readonly measuredMs: number;
}
