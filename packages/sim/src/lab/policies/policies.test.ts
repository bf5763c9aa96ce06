/** The policies that ours is held against do what their names say. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { BlockPolicy } from './block-policy.ts';
import { QueuePolicy } from './queue-policy.ts';
import { StorePolicy } from './store-policy.ts';

const MIB = 1 << 20;
const sizes = { capacityBytes: 4 * MIB, blockBytes: MIB };

function held(policy: BlockPolicy, versions: readonly number[]): readonly number[] {
  return versions.filter((version) => policy.has(version, 0));
}

function fill(policy: BlockPolicy): void {
  for (const version of [1, 2, 3, 4]) ok(policy.store(version, 0, MIB));
}

test('FIFO lets the oldest block go, read or not', () => {
  const policy = new QueuePolicy(sizes, false);
  fill(policy);
  policy.touch(1, 0);
  policy.store(5, 0, MIB);
  deepEqual(held(policy, [1, 2, 3, 4, 5]), [2, 3, 4, 5]);
});

test('LRU lets the block go whose last read is oldest', () => {
  const policy = new QueuePolicy(sizes, true);
  fill(policy);
  policy.touch(1, 0);
  policy.store(5, 0, MIB);
  deepEqual(held(policy, [1, 2, 3, 4, 5]), [1, 3, 4, 5]);
});

test('a large block takes the place of as many small ones as it needs', () => {
  const policy = new QueuePolicy(sizes, true);
  for (let version = 0; version < 8; version++) policy.store(version, 0, MIB / 2);
  policy.store(9, 0, MIB);
  deepEqual(held(policy, [0, 1, 2, 3, 9]), [2, 3, 9]);
  equal(policy.store(10, 0, 5 * MIB), false);
});

test('blocks of one object and versions of one block are different blocks', () => {
  for (const policy of [new QueuePolicy(sizes, true), new StorePolicy(sizes, false)]) {
    policy.store(1, 2, MIB);
    ok(policy.has(1, 2));
    ok(!policy.has(1, 1) && !policy.has(2, 2));
  }
});

test('the store with its doorkeeper admits a block on its second read, without it on the first', () => {
  const ours = new StorePolicy(sizes, true);
  equal(ours.admits(1, 0, 0), false);
  equal(ours.admits(1, 0, 1), true);
  equal(ours.admits(2, 0, 2), false);
  const plain = new StorePolicy(sizes, false);
  equal(plain.admits(1, 0, 0), true);
});
