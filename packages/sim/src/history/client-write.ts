/** One client's write and what came of it. Opened when the request leaves the client. */
import type { Version } from '../oracle/version.ts';

export type WriteOperation = 'put' | 'copy' | 'complete' | 'delete' | 'multi-delete';

/**
 * open: under way. done: the client was told that it happened. failed: it was told that it didn't, for S3's reasons. denied:
 * it was told that it isn't allowed to. unknown: it was told nothing, or an error that leaves it open.
 */
export type WriteOutcome = 'open' | 'done' | 'failed' | 'denied' | 'unknown';

/** What is known of a write as its client sends it. */
export interface WriteStart {
  readonly client: number;
  readonly credential: number;
  readonly gateway: number;
  readonly gatewayLife: number;
  readonly operation: WriteOperation;
  readonly bucket: string;
  /** One, or a multi-delete's. */
  readonly keys: readonly string[];
  /** A copy's. */
  readonly source: { readonly bucket: string; readonly key: string } | null;
  readonly startedAt: number;
}

export interface ClientWrite extends WriteStart {
  /** Counts the writes of a run; the oracle's versions name it. */
  readonly id: number;

  /** As the client was told. */
  outcome: WriteOutcome;
  /** When the client heard, or gave up. */
  endedAt: number;
  status: number;
  code: string;
  /** As the gateway concluded, when it told its machine: before the client heard, and also when the client had left. */
  conclusion: 'open' | 'done' | 'failed' | 'unknown';
  concludedAt: number;
  /** What it made at S3, deletions included, as it took effect: also after `endedAt` when the outcome is unknown. */
  readonly versions: Version[];
}

export function newClientWrite(id: number, start: WriteStart): ClientWrite {
  return {
    id,
    ...start,
    outcome: 'open',
    endedAt: Infinity,
    status: 0,
    code: '',
    conclusion: 'open',
    concludedAt: Infinity,
    versions: [],
  };
}
