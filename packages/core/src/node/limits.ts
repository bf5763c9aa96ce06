/** What bounds a node, and how long it waits for what: every pool, queue and patience by its name. */
import { defaultJournalLimits, type JournalLimits } from '../journal/journal.ts';

/** Every bound of a node, by name. Reaching one is counted and answered, never ignored. */
export interface NodeLimits extends JournalLimits {
  /** Reads that wait for S3 at a time; one more is answered busy. Hits don't count. */
  readonly maxReaders: number;
  /** Fetches from S3 at a time, with those whose bytes still wait for a reader or for the disk. */
  readonly maxFetches: number;
  /** Blocks on their way to the disk at a time, fewer than fetches; further ones are served and not stored. */
  readonly maxWrites: number;
  /** Bytes of memory that fetched blocks have before they were served or stored. */
  readonly fillBudgetBytes: number;
  /** How many segments a fetch receives beyond the last one that a reader asked for. */
  readonly readAheadSegments: number;
  /** How long a fetch waits for its next reader before it is given up. */
  readonly idleFetchMs: number;
  /** Answers up to this length are sent in one go; longer ones as their bytes come. */
  readonly smallAnswerBytes: number;
  /** Objects, and bytes of their headers, in the metadata table. */
  readonly metadataEntries: number;
  readonly metadataBytes: number;
  /** Blocks of earlier runs that are being verified for readers at a time; reads past it come from S3. */
  readonly maxVerifications: number;
  /** How long after a ring change previous owners are asked. */
  readonly fallbackWindowMs: number;
  /** How long a previous owner may say nothing, from the question to its answer and between two parts of it. */
  readonly peerFetchTimeoutMs: number;
  /** How long one that said nothing isn't asked again. */
  readonly peerRestMs: number;
  /** After how long without a read that says otherwise a node that this one stood in for counts as back. */
  readonly standInMs: number;
  /** How long the scrub takes to verify everything that is stored once; Infinity for no scrub. */
  readonly scrubIntervalMs: number;
  /** A placement that is read this often in one window is lent to others. */
  readonly hotThreshold: number;
  readonly hotWindowMs: number;
  /** How many nodes it is lent to, at most `maxHotReplicas`; 0 lends nothing. */
  readonly hotReplicas: number;
  /** How long it is lent for, unless it stays hot. */
  readonly leaseMs: number;
  /** Placements that are lent at a time, by this node and to it. */
  readonly maxLeases: number;
}

export const defaultNodeLimits: NodeLimits = {
  ...defaultJournalLimits,
  maxReaders: 8192,
  maxFetches: 128,
  maxWrites: 64,
  fillBudgetBytes: 256 * 1024 * 1024,
  readAheadSegments: 2,
  idleFetchMs: 5000,
  smallAnswerBytes: 32 * 1024,
  metadataEntries: 1_000_000,
  metadataBytes: 512 * 1024 * 1024,
  maxVerifications: 64,
  fallbackWindowMs: 600_000,
  peerFetchTimeoutMs: 500,
  peerRestMs: 10_000,
  standInMs: 60_000,
  scrubIntervalMs: Infinity,
  hotThreshold: 1000,
  hotWindowMs: 1000,
  hotReplicas: 2,
  leaseMs: 10_000,
  maxLeases: 1024,
};
