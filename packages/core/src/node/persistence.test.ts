/** What a node still has after its process ended, one way or another, and what it does about a disk that loses bits or space. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RangeRequest } from '../s3/byte-range.ts';
import { judge } from '../testing/judge.ts';
import { blockBytes, Rig, type RigOptions } from '../testing/rig.ts';
import type { TestClient } from '../testing/test-client.ts';
import { diskFails } from '../testing/test-disk.ts';
import type { TestNode } from '../testing/test-node.ts';

const bounded = (first: number, last: number): RangeRequest => ({ kind: 'bounded', first, last });
const stored = { immutable: true, ttlMs: 0, admitOnFirstRead: true };

/** One node that has stored and recorded the blocks of `k`. */
function warm(options: RigOptions = {}, blocks = 2): { rig: Rig; node: TestNode } {
  const rig = new Rig({ nodes: 1, policy: stored, ...options });
  rig.s3.put(0, 'b', 'k', blocks * blockBytes);
  assertRight(rig, rig.get('k'));
  rig.pass(10_000);
  rig.settle();
  const node = rig.nodes[0]!;
  assert.equal(node.node.journal.levels().unrecorded, 0);
  return { rig, node };
}

function assertRight(rig: Rig, ...clients: TestClient[]): void {
  for (const client of clients) {
    assert.equal(client.end, 'finished');
    assert.equal(judge(rig.s3, client, client.startedAt), '');
  }
}

/** Turns a bit of the first stored block that isn't at the slab's very beginning, behind everybody's back. */
function damage({ store, disk }: TestNode, slot = 1): void {
  assert.ok(store.isPublished(slot));
  disk.slab.damage(store.fileOffset(slot) + 99);
}

/** What S3 was asked during a read. */
function asked(rig: Rig, read: () => TestClient): number {
  const before = rig.s3.requests.length;
  assertRight(rig, read());
  return rig.s3.requests.length - before;
}

describe('after a restart', () => {
  test('blocks of a clean end are hits at once, and nothing is verified', () => {
    const { rig, node } = warm();
    node.restart();
    assert.deepEqual([node.recovered.restored, node.recovered.trusted], [2, 2]);
    assert.equal(
      asked(rig, () => rig.get('k')),
      0,
    );
    assert.equal(node.disk.asked.verifications, 0);
    assert.equal(node.node.counters.readsFromDisk, 2);
    rig.assertNothingLeft();
  });

  test('blocks of a crash are verified by their first reader, once, and served without S3', () => {
    const { rig, node } = warm();
    node.crash();
    assert.deepEqual([node.recovered.restored, node.recovered.trusted], [2, 0]);
    assert.equal(
      asked(rig, () => rig.get('k')),
      0,
    );
    assert.equal(node.disk.asked.verifications, 2);
    assertRight(rig, rig.get('k'));
    assert.equal(node.disk.asked.verifications, 2);
    assert.equal(node.node.verification.counters.intact, 2);
    rig.assertNothingLeft();
  });

  test('what was verified is recorded under this run, so a clean end makes it trusted', () => {
    const { rig, node } = warm();
    node.crash();
    assertRight(rig, rig.get('k', { range: bounded(0, 9) }));
    rig.pass(1000);
    node.restart();
    assert.deepEqual([node.recovered.restored, node.recovered.trusted], [2, 1]);
    rig.assertNothingLeft();
  });

  test('readers of one block share its verification', () => {
    const { rig, node } = warm();
    node.crash();
    const clients = Array.from({ length: 10 }, () => rig.ask('k', { range: bounded(0, 9) }));
    rig.settle();
    assertRight(rig, ...clients);
    assert.equal(node.disk.asked.verifications, 1);
    rig.assertNothingLeft();
  });

  test('a reader may leave while its block is verified', () => {
    const { rig, node } = warm();
    node.crash();
    const client = rig.ask('k', { range: bounded(0, 9) });
    while (node.disk.asked.verifications === 0) assert.ok(rig.step());
    rig.leave(client);
    rig.assertNothingLeft();
    assert.equal(node.node.verification.counters.intact, 1);
  });

  test('past the bound of verifications blocks come from S3, and aren’t stored a second time', () => {
    const { rig, node } = warm({ nodeLimits: { maxVerifications: 1 } }, 4);
    node.crash();
    const clients = [0, 1, 2, 3].map((i) =>
      rig.ask('k', { range: bounded(i * blockBytes, i * blockBytes + 5000) }),
    );
    rig.settle();
    assertRight(rig, ...clients);
    assert.ok(node.node.verification.counters.exhausted > 0);
    assert.equal(node.node.counters.blocksStored, 0);
    assert.ok(node.node.counters.directStreams > 0);
    rig.assertNothingLeft();
  });

  test('a block that was damaged by then comes from S3 and is stored anew, at once', () => {
    const { rig, node } = warm({ policy: { ...stored, admitOnFirstRead: false } }, 2);
    assertRight(rig, rig.get('k'));
    rig.pass(10_000);
    node.crash();
    damage(node);
    assert.equal(
      asked(rig, () => rig.get('k')),
      1,
    );
    assert.equal(node.node.verification.counters.damaged, 1);
    assert.equal(
      asked(rig, () => rig.get('k')),
      0,
    );
    rig.assertNothingLeft();
  });

  test('a row that was damaged costs its block, and no other', () => {
    const { rig, node } = warm();
    node.disk.table.damage(4096 + 64 + 5);
    node.restart();
    assert.deepEqual([node.recovered.restored, node.recovered.damaged], [1, 1]);
    assert.equal(
      asked(rig, () => rig.get('k')),
      1,
    );
    rig.assertNothingLeft();
  });

  test('a larger cache keeps its blocks, a smaller one what fits', () => {
    const { rig, node } = warm({}, 40);
    node.resize(16 * 1024 * 1024);
    assert.equal(node.recovered.restored, 40);
    node.resize(10 * blockBytes);
    assert.deepEqual([node.recovered.restored, node.recovered.outside], [10, 30]);
    rig.pass(1000);
    rig.settle();
    node.resize(16 * 1024 * 1024);
    assert.equal(node.recovered.restored, 10, 'what was lost stays lost');
    rig.assertNothingLeft();
  });
});

describe('metadata', () => {
  test('of an immutable bucket is known after a restart', () => {
    const { rig, node } = warm();
    node.restart();
    assert.equal(node.node.levels().metadataEntries, 1);
    rig.pass(60_000);
    assert.equal(
      asked(rig, () => rig.get('k', { head: true })),
      0,
    );
    rig.assertNothingLeft();
  });

  test('of any other bucket is confirmed before its first use', () => {
    const { rig, node } = warm({
      policy: { ...stored, immutable: false, ttlMs: 1e9 },
      gatewayLimits: { gatewayTtlMs: 1 },
    });
    node.restart();
    rig.pass(100);
    const { etag } = rig.s3.history('b', 'k').at(-1)!;
    assert.equal(
      asked(rig, () => rig.get('k')),
      1,
    );
    assert.equal(rig.s3.requests.at(-1)!.ifNoneMatch, etag);
    assert.equal(node.node.counters.confirmations, 1);
    assert.equal(node.node.counters.readsFromS3, 0);
    rig.assertNothingLeft();
  });

  test('that was forgotten stays forgotten', () => {
    const { rig, node } = warm();
    rig.startWrite('k');
    rig.s3.put(rig.queue.now, 'b', 'k', 5);
    rig.finishWrite('k', 'done');
    node.restart();
    assert.equal(node.node.levels().metadataEntries, 0);
    const client = rig.get('k');
    assert.equal(client.metadata?.size, 5);
    rig.assertNothingLeft();
  });

  test('is logged when it is learned, and not each time that it is confirmed', () => {
    const { rig, node } = warm({
      policy: { ...stored, immutable: false, ttlMs: 10 },
      gatewayLimits: { gatewayTtlMs: 1 },
    });
    const { logBytes } = node.disk;
    for (let i = 0; i < 20; i++) {
      rig.pass(100);
      assertRight(rig, rig.get('k'));
    }
    assert.equal(node.node.counters.confirmations, 20);
    assert.equal(node.disk.logBytes, logBytes);
    rig.assertNothingLeft();
  });

  test('is written to a new log once most of the old one is out of date', () => {
    // So many slots that no other object shares the key's.
    const { rig, node } = warm({ writeSlots: 2 ** 16, nodeLimits: { metadataEntries: 20 } });
    for (let i = 0; i < 20_000; i++) {
      rig.s3.put(rig.queue.now, 'b', `k${i % 30}`, 1);
      rig.get(`k${i % 30}`, { head: true });
      rig.startWrite(`k${i % 30}`);
      rig.finishWrite(`k${i % 30}`, 'done');
    }
    rig.settle();
    assert.ok(node.disk.asked.compactions > 0);
    assert.ok(node.disk.logBytes < 1.5 * 1024 * 1024, `${node.disk.logBytes}`);
    node.restart();
    assert.equal(node.node.levels().metadataEntries, 1, 'only what no write made uncertain');
    assert.equal(
      asked(rig, () => rig.get('k')),
      0,
    );
    rig.assertNothingLeft();
  });
});

describe('a failing disk', () => {
  test('that can’t sync the table stores nothing, serves on, and stores again once it can', () => {
    const { rig, node } = warm({ storeBytes: 4 * blockBytes }, 4);
    node.disk.nextTableSyncErrno = diskFails;
    for (let i = 0; i < 6; i++) {
      rig.s3.put(rig.queue.now, 'b', `l${i}`, blockBytes);
      assertRight(rig, rig.get(`l${i}`));
    }
    const { counters } = node.node.journal;
    assert.ok(counters.tableSyncsFailed > 0 && counters.storesRefused > 0);
    node.disk.heal();
    rig.pass(5000);
    rig.settle();
    const before = node.node.counters.blocksStored;
    assertRight(rig, rig.get('l0'), rig.get('l1'));
    assert.ok(node.node.counters.blocksStored > before);
    rig.assertNothingLeft();
  });

  test('that can’t sync the slab drops what wasn’t durable', () => {
    const { rig, node } = warm();
    node.disk.nextSlabSyncErrno = diskFails;
    rig.s3.put(rig.queue.now, 'b', 'l', 3 * blockBytes);
    assertRight(rig, rig.get('l'));
    rig.pass(5000);
    assert.equal(node.node.journal.counters.unsyncedDropped, 3);
    assert.equal(node.store.counters.blocks, 2);
    node.disk.heal();
    rig.assertNothingLeft();
  });

  test('whose slab was cut loses what lay behind, at once, and for good', () => {
    const { rig, node } = warm({}, 4);
    node.truncate(4096 + 2 * blockBytes + 5);
    assert.equal(node.node.verification.counters.truncated, 2);
    assert.equal(
      asked(rig, () => rig.get('k')),
      1,
    );
    rig.assertNothingLeft();
    node.restart();
    assert.equal(
      asked(rig, () => rig.get('k')),
      0,
    );
    rig.assertNothingLeft();
  });
});

test('a crash right after the slab was cut brings back no row that speaks of what was lost', () => {
  const { rig, node } = warm({}, 4);
  node.restart();
  node.truncate(4096 + 2 * blockBytes);
  node.crash();
  assert.equal(node.recovered.trusted, 0);
  assertRight(rig, rig.get('k'));
  rig.assertNothingLeft();
});

describe('the scrub', () => {
  const scrubIntervalMs = 100_000;

  test('compares everything once in its interval, and drops what changed behind it', () => {
    const { rig, node } = warm({ nodeLimits: { scrubIntervalMs } }, 10);
    damage(node, 3);
    rig.pass(2 * scrubIntervalMs);
    rig.settle();
    const { scrubbed, damaged, intact } = node.node.verification.counters;
    assert.equal(damaged, 1);
    assert.ok(intact >= 9 && scrubbed === intact + damaged, `${intact} intact`);
    assert.ok(scrubbed <= 22, `${scrubbed} of ten blocks in two intervals`);
    assert.equal(
      asked(rig, () => rig.get('k')),
      1,
    );
    rig.assertNothingLeft();
  });

  test('verifies what a crash left, so that readers needn’t wait', () => {
    const { rig, node } = warm({ nodeLimits: { scrubIntervalMs } }, 3);
    node.crash();
    rig.pass(2 * scrubIntervalMs);
    rig.settle();
    const { verifications } = node.disk.asked;
    assertRight(rig, rig.get('k'));
    assert.equal(node.disk.asked.verifications, verifications);
    rig.assertNothingLeft();
  });

  test('doesn’t run when it is off', () => {
    const { rig, node } = warm();
    rig.pass(1e9);
    assert.equal(node.disk.asked.verifications, 0);
    rig.assertNothingLeft();
  });
});
