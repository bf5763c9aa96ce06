/**
 * Plays a trace to a policy and counts what a node would have done: which bytes came from the cache, which GETs went to
 * S3, what was written to disk.
 *
 * Reads are cut as a node cuts them: within a stretch that one GET may bring, missing blocks that lie side by side come
 * in one. Admitted blocks come whole, so that they can be stored; at the ends of others only what is read. One node keeps
 * everything, reads come one after the other, and a block is there for the next read once it was stored.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import { mix32 } from '@s3-accelerator/core/base/hash.ts';
import type { Layout } from '@s3-accelerator/core/layout.ts';
import type { BlockPolicy } from './policies/block-policy.ts';
import { MAX_VERSIONS, type TraceRead } from './trace.ts';

/** Totals of a replay: plain counts and bytes. */
export interface ReplayCounts {
  reads: number;
  servedBytes: number;
  /** Of these, from the cache. */
  hitBytes: number;
  /** GETs to S3 and the bytes that they brought. */
  gets: number;
  fetchedBytes: number;
  /** Stored on disk. */
  writtenBytes: number;
  /** Of the hot set's bytes, from S3 although the cache should have had them. */
  hotMissedBytes: number;
}

export class Replay {
  readonly counts: Readonly<ReplayCounts>;
  readonly #counts: ReplayCounts;
  readonly #policy: BlockPolicy;
  readonly #layout: Layout;
  /** Of each block of the GET that is being planned, whether it is to be stored. */
  readonly #isAdmitted: boolean[] = [];

  constructor(policy: BlockPolicy, layout: Layout) {
    this.#policy = policy;
    this.#layout = layout;
    this.#counts = {
      reads: 0,
      servedBytes: 0,
      hitBytes: 0,
      gets: 0,
      fetchedBytes: 0,
      writtenBytes: 0,
      hotMissedBytes: 0,
    };
    this.counts = this.#counts;
  }

  /** Makes one read. */
  read(read: TraceRead): void {
    const { version, size, first, length } = read;
    assert(version < MAX_VERSIONS, 'replay: too many versions');
    assert(length >= 1 && first + length <= size, 'replay: a read lies within its object');
    this.#counts.reads += 1;
    this.#counts.servedBytes += length;
    const last = first + length - 1;
    for (let position = first; position <= last;) {
      const block = this.#layout.blockOf(position);
      const next = Math.min(last + 1, this.#layout.blockStart(block + 1));
      if (this.#policy.has(version, block)) {
        this.#policy.touch(version, block);
        this.#counts.hitBytes += next - position;
        position = next;
      } else {
        position = this.#fetch(read, position, last);
      }
    }
  }

  /** What a GET for missing bytes from `position` on brings: returns the position behind what it served. */
  #fetch(read: TraceRead, position: number, last: number): number {
    const { atMs, version, size, isHot } = read;
    const layout = this.#layout;
    const policy = this.#policy;
    const counts = this.#counts;
    const partLast = Math.min(last, layout.stretchEnd(size, position) - 1);
    const firstBlock = layout.blockOf(position);
    const partLastBlock = layout.blockOf(partLast);
    let lastBlock = firstBlock;
    this.#isAdmitted[0] = policy.admits(version, firstBlock, atMs);
    while (lastBlock < partLastBlock && !policy.has(version, lastBlock + 1)) {
      lastBlock += 1;
      this.#isAdmitted[lastBlock - firstBlock] = policy.admits(version, lastBlock, atMs);
    }
    const servedLast = Math.min(partLast, layout.blockStart(lastBlock + 1) - 1);
    counts.gets += 1;
    if (isHot) counts.hotMissedBytes += servedLast + 1 - position;
    for (let block = firstBlock; block <= lastBlock; block++) {
      const start = layout.blockStart(block);
      const length = layout.blockLength(size, block);
      if (this.#isAdmitted[block - firstBlock]!) {
        counts.fetchedBytes += length;
        if (policy.store(version, block, length)) counts.writtenBytes += length;
      } else {
        const from = Math.max(start, position);
        counts.fetchedBytes += Math.min(start + length - 1, servedLast) + 1 - from;
      }
    }
    return servedLast + 1;
  }
}

/** A fingerprint of all counts: equal code and traces give equal ones. */
export function fingerprint(counts: Readonly<ReplayCounts>): number {
  let hash = 0;
  for (const count of Object.values(counts) as readonly number[]) {
    hash = mix32(hash ^ mix32(count | 0) ^ Math.floor(count / 2 ** 32));
  }
  return hash >>> 0;
}
