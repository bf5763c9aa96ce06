/** A replay counts what a node would do: GETs, whole blocks for the disk, bytes from the cache. */
import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { Layout } from '@s3-accelerator/core/layout.ts';
import type { BlockPolicy } from './policies/block-policy.ts';
import { QueuePolicy } from './policies/queue-policy.ts';
import { StorePolicy } from './policies/store-policy.ts';
import { fingerprint, Replay } from './replay.ts';
import { wholeRead, type TraceRead } from './trace.ts';

const MIB = 1 << 20;
const sizes = { capacityBytes: 64 * MIB, blockBytes: MIB };

function replay(policy: BlockPolicy, ...reads: readonly TraceRead[]): Replay {
  const replay = new Replay(policy, new Layout());
  for (const read of reads) replay.read(read);
  return replay;
}

function ranged(size: number, first: number, length: number): TraceRead {
  return { atMs: 0, version: 1, size, first, length, isHot: false };
}

const admitting = (): BlockPolicy => new QueuePolicy(sizes, true);
const doorkeeping = (): BlockPolicy => new StorePolicy(sizes, true);

test('missing blocks side by side come in one GET, up to the end of their chunk', () => {
  const { counts } = replay(admitting(), wholeRead(0, 1, 24 * MIB));
  equal(counts.gets, 2);
  equal(counts.fetchedBytes, 24 * MIB);
  equal(counts.writtenBytes, 24 * MIB);
  equal(counts.hitBytes, 0);
});

test('a block that is there parts the GET in two', () => {
  const size = 9 * MIB;
  const { counts } = replay(admitting(), ranged(size, 4 * MIB, MIB), wholeRead(1, 1, size));
  equal(counts.gets, 3);
  equal(counts.hitBytes, MIB);
  equal(counts.fetchedBytes, size);
});

test('admitted blocks come whole, of others only what is read', () => {
  const first = ranged(8 * MIB, MIB - 10, 20);
  const once = replay(doorkeeping(), first).counts;
  deepEqual([once.gets, once.fetchedBytes, once.writtenBytes], [1, 20, 0]);
  const twice = replay(doorkeeping(), first, first).counts;
  deepEqual([twice.gets, twice.fetchedBytes, twice.writtenBytes], [2, 20 + 2 * MIB, 2 * MIB]);
  const thrice = replay(doorkeeping(), first, first, first).counts;
  deepEqual([thrice.gets, thrice.hitBytes, thrice.servedBytes], [2, 20, 60]);
});

test('the last block has the bytes that the object has left for it', () => {
  const { counts } = replay(admitting(), ranged(2 * MIB + 7, 2 * MIB, 3));
  deepEqual([counts.fetchedBytes, counts.writtenBytes, counts.servedBytes], [7, 7, 3]);
});

test('hot bytes that come from S3 are told from others', () => {
  const { counts } = replay(admitting(), wholeRead(0, 1, MIB), wholeRead(1, 2, 3 * MIB, true));
  equal(counts.hotMissedBytes, 3 * MIB);
});

test('the fingerprint tells any count from another, beyond 32 bits too', () => {
  const { counts } = replay(admitting(), wholeRead(0, 1, MIB));
  const base = fingerprint(counts);
  equal(fingerprint({ ...counts }), base);
  notEqual(fingerprint({ ...counts, gets: counts.gets + 1 }), base);
  notEqual(fingerprint({ ...counts, servedBytes: counts.servedBytes + 2 ** 32 }), base);
});
