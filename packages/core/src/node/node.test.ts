import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { placeBlock, type Placement } from '../placement.ts';
import type { ReadRequest } from '../read.ts';
import type { RangeRequest } from '../s3/byte-range.ts';
import { newBlockPlace } from '../store/block-place.ts';
import { NO_SLOT } from '../store/store.ts';
import { objectHash } from '../testing/identity.ts';
import { judge } from '../testing/judge.ts';
import { blockBytes, chunkBytes, Rig, smallAnswerBytes } from '../testing/rig.ts';
import type { TestClient } from '../testing/test-client.ts';

const bounded = (first: number, last: number): RangeRequest => ({ kind: 'bounded', first, last });

function assertRight(rig: Rig, ...clients: TestClient[]): void {
  for (const client of clients) {
    assert.equal(client.end, 'finished');
    assert.equal(judge(rig.s3, client, client.startedAt), '');
  }
}

const toU32 = ({ hi, lo }: Placement): Placement => ({ hi: hi >>> 0, lo: lo >>> 0 });

/** Steps until S3 has seen so many requests. */
function untilRequests(rig: Rig, count: number): void {
  while (rig.s3.requests.length < count) assert.ok(rig.step(), 'the request is on its way');
}

describe('admission', () => {
  test('the first read streams through, the second is stored, the third is a hit', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 2 * blockBytes);
    assertRight(rig, rig.get('k'));
    assert.equal(rig.count('blocksStored'), 0);
    assertRight(rig, rig.get('k'));
    assert.equal(rig.count('blocksStored'), 2);
    const requests = rig.s3.requests.length;
    assertRight(rig, rig.get('k'));
    assert.equal(rig.s3.requests.length, requests);
    rig.assertNothingLeft();
  });

  test('a bucket that admits on first read stores at once', () => {
    const rig = new Rig({ policy: { admitOnFirstRead: true } });
    rig.s3.put(0, 'b', 'k', 2 * blockBytes);
    assertRight(rig, rig.get('k'));
    assert.equal(rig.count('blocksStored'), 2);
    rig.assertNothingLeft();
  });

  test('a second small read of a block fetches and stores the whole block', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 3 * blockBytes);
    assertRight(rig, rig.get('k', { range: bounded(blockBytes + 10, blockBytes + 19) }));
    assertRight(rig, rig.get('k', { range: bounded(blockBytes + 500, blockBytes + 509) }));
    const last = rig.s3.requests.at(-1)!;
    assert.deepEqual([last.first, last.last], [blockBytes, 2 * blockBytes - 1]);
    assert.equal(rig.count('blocksStored'), 1);
    rig.assertNothingLeft();
  });

  test('a second reader that joins in flight makes the block admitted', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 2 * blockBytes);
    const clients = [rig.ask('k'), rig.ask('k')];
    rig.settle();
    assertRight(rig, ...clients);
    assert.equal(rig.s3.requests.length, 1);
    assert.equal(rig.count('blocksStored'), 2);
    rig.assertNothingLeft();
  });

  test('a home stores no block that another node owns', () => {
    const rig = new Rig({ policy: { admitOnFirstRead: true } });
    const size = 40 * chunkBytes;
    rig.s3.put(0, 'b', 'k', size);
    for (let chunk = 1; chunk < 39; chunk++) {
      rig.get('k', { range: bounded(chunk * chunkBytes, chunk * chunkBytes + 99) });
      rig.pass(2000);
    }
    const home = rig.homeOf('k');
    const others = rig.nodes.filter((node) => node !== home);
    const ownedElsewhere = rig.count('blocksStored') - home.node.counters.blocksStored;
    assert.equal(
      ownedElsewhere,
      others.reduce((sum, { store }) => sum + store.counters.blocks, 0),
    );
    for (const { store } of others) assert.ok(store.counters.blocks > 0);
    rig.assertNothingLeft();
  });

  test('a stored block keeps the placement that it is ranked by', () => {
    const rig = new Rig({ policy: { admitOnFirstRead: true } });
    const size = 6 * chunkBytes;
    rig.s3.put(0, 'b', 'k', size);
    assertRight(rig, rig.get('k'));
    const hash = objectHash('b', 'k');
    const kept = newBlockPlace();
    const expected = { hi: 0, lo: 0 };
    let blocks = 0;
    for (const { store } of rig.nodes) {
      for (let slot = 1; slot < store.end; slot++) {
        if (!store.isPublished(slot)) continue;
        store.describe(slot, kept);
        placeBlock(rig.layout, hash, size, kept.block, expected);
        assert.deepEqual({ hi: kept.placementHi, lo: kept.placementLo }, toU32(expected));
        blocks += 1;
      }
    }
    assert.equal(blocks, size / blockBytes);
  });
});

describe('one request for many', () => {
  test('a cold read of a whole chunk is one request to S3', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', chunkBytes);
    assertRight(rig, rig.get('k'));
    assert.equal(rig.s3.requests.length, 1);
    rig.assertNothingLeft();
  });

  test('twenty cold readers at once are one request to S3', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', chunkBytes);
    const clients = Array.from({ length: 20 }, () => rig.ask('k'));
    rig.settle();
    assertRight(rig, ...clients);
    assert.equal(rig.s3.requests.length, 1);
    rig.assertNothingLeft();
  });

  test('readers of known metadata share one fill', () => {
    const rig = new Rig({ policy: { admitOnFirstRead: true } });
    rig.s3.put(0, 'b', 'k', chunkBytes);
    rig.get('k', { head: true });
    const clients = Array.from({ length: 20 }, () => rig.ask('k'));
    rig.settle();
    assertRight(rig, ...clients);
    assert.equal(rig.s3.requests.length, 2);
    assert.equal(rig.s3.requests[1]!.ifMatch, clients[0]!.metadata!.etag);
    rig.assertNothingLeft();
  });

  test('a reader goes on when the one whose fetch it joined leaves', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', chunkBytes);
    const first = rig.ask('k');
    const second = rig.ask('k');
    untilRequests(rig, 1);
    rig.leave(first);
    rig.settle();
    assertRight(rig, second);
    assert.equal(rig.s3.requests.length, 1);
    rig.assertNothingLeft();
  });

  test('adjacent missing blocks come in one request, around those that are there', () => {
    const rig = new Rig({ policy: { admitOnFirstRead: true } });
    rig.s3.put(0, 'b', 'k', 2 * chunkBytes);
    rig.get('k', { range: bounded(blockBytes, 2 * blockBytes - 1) });
    const before = rig.s3.requests.length;
    assertRight(rig, rig.get('k', { range: bounded(0, chunkBytes - 1) }));
    const ranges = rig.s3.requests.slice(before).map(({ first, last }) => [first, last]);
    assert.deepEqual(ranges, [
      [0, blockBytes - 1],
      [2 * blockBytes, chunkBytes - 1],
    ]);
    rig.assertNothingLeft();
  });
});

describe('fetches in flight', () => {
  test('a fetch waits for its reader, and the next piece finds it', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', chunkBytes);
    const client = rig.ask('k');
    client.isStalled = true;
    rig.settle();
    const home = rig.homeOf('k');
    assert.equal(home.node.levels().fetches, 1);
    rig.pass(3000);
    rig.resume(client);
    rig.settle();
    assertRight(rig, client);
    assert.equal(rig.s3.requests.length, 1);
    rig.assertNothingLeft();
  });

  test('it receives no more than the read-ahead allows', () => {
    const rig = new Rig({ nodeLimits: { readAheadSegments: 1 } });
    rig.s3.put(0, 'b', 'k', chunkBytes);
    const client = rig.ask('k');
    client.isStalled = true;
    rig.settle();
    assert.equal(rig.count('fetchedBytes'), 2 * blockBytes);
    rig.leave(client);
    rig.assertNothingLeft();
  });

  test('one that waited too long is given up, and the next piece fetches anew', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', chunkBytes);
    const client = rig.ask('k');
    client.isStalled = true;
    rig.settle();
    rig.pass(5001);
    assert.equal(rig.homeOf('k').node.levels().fetches, 0);
    assert.equal(rig.homeOf('k').node.levels().fillBytes, 0);
    rig.resume(client);
    rig.settle();
    assertRight(rig, client);
    assert.ok(rig.s3.requests.length > 1);
    rig.assertNothingLeft();
  });

  test('what another node owns is fetched by the home only as far as it is answered', () => {
    let elsewhere = 0;
    for (let i = 0; i < 12; i++) {
      const rig = new Rig();
      const key = `k${i}`;
      rig.s3.put(0, 'b', key, 40 * chunkBytes);
      const range = bounded(chunkBytes, chunkBytes + blockBytes - 1);
      assertRight(rig, rig.get(key, { range }));
      const isOwned = rig.count('fills') === 0;
      const [first] = rig.s3.requests;
      assert.deepEqual([first!.first, first!.last], [range.first, range.last]);
      if (!isOwned) {
        elsewhere += 1;
        const home = rig.homeOf(key);
        assert.equal(home.node.counters.fetchedBytes, smallAnswerBytes);
        assert.equal(home.node.levels().fetches, 0, 'the rest is not waited for');
      }
      rig.assertNothingLeft();
    }
    assert.ok(elsewhere > 0);
  });

  test('a body that breaks off fails the readers that came before it, and others start over', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', chunkBytes);
    rig.get('k', { head: true });
    let broken = 1;
    rig.s3.faultOf = () => {
      broken -= 1;
      return broken >= 0 ? { kind: 'status', status: 500, code: 'InternalError' } : null;
    };
    const early = rig.ask('k');
    while (rig.count('fills') === 0) rig.step();
    const late = rig.ask('k');
    rig.settle();
    assert.equal(early.originError?.code, 'InternalError');
    assertRight(rig, late);
    rig.assertNothingLeft();
  });

  test('a failed write to disk loses the block and nothing else', () => {
    const rig = new Rig({ policy: { admitOnFirstRead: true } });
    rig.s3.put(0, 'b', 'k', 2 * blockBytes);
    for (const { disk } of rig.nodes) disk.nextWriteErrno = 5;
    assertRight(rig, rig.get('k'));
    assert.equal(rig.count('writesFailed'), 2);
    for (const { disk } of rig.nodes) disk.nextWriteErrno = 0;
    assertRight(rig, rig.get('k'), rig.get('k'));
    assert.equal(rig.count('blocksStored'), 2);
    rig.assertNothingLeft();
  });

  test('a slot that can’t be read is a miss from then on', () => {
    const rig = new Rig({ nodes: 1, policy: { admitOnFirstRead: true } });
    rig.s3.put(0, 'b', 'k', 2 * blockBytes);
    const { version } = rig.get('k').metadata!;
    const { node, store } = rig.nodes[0]!;
    node.onSlotUnreadable(rig.queue.now, store.find(version, 0));
    assert.equal(rig.count('unreadableBlocks'), 1);
    const requests = rig.s3.requests.length;
    assertRight(rig, rig.get('k'));
    assert.equal(rig.s3.requests.length, requests + 1);
    rig.assertNothingLeft();
  });

  test('another version or range than was asked for is never stored', () => {
    for (const kind of ['ignoresIfMatch', 'wrongRange', 'ignoresRange'] as const) {
      const rig = new Rig({ policy: { admitOnFirstRead: true } });
      rig.s3.put(0, 'b', 'k', 2 * chunkBytes);
      rig.get('k', { head: true });
      rig.s3.put(rig.queue.now, 'b', 'k', 2 * chunkBytes);
      rig.s3.faultOf = (request) => (request.ifMatch === '' ? null : { kind });
      const client = rig.get('k', { range: bounded(chunkBytes, chunkBytes + 99) });
      assert.equal(judge(rig.s3, client, 0), '');
      assert.ok(rig.count('changes') > 0);
      rig.s3.faultOf = () => null;
      assertRight(rig, rig.get('k'));
      rig.assertNothingLeft();
    }
  });
});

describe('memory', () => {
  test('without any, misses stream past it, each with a request of its own', () => {
    const rig = new Rig({ nodes: 1, nodeLimits: { fillBudgetBytes: 4096 } });
    rig.s3.put(0, 'b', 'k', 3 * blockBytes);
    const clients = [rig.ask('k'), rig.ask('k')];
    rig.settle();
    assertRight(rig, ...clients);
    assert.ok(rig.count('directStreams') >= 3);
    assert.equal(rig.count('blocksStored'), 0);
    rig.assertNothingLeft();
  });

  test('a read that finds none for its next block doesn’t wait until the disk gives some back', () => {
    const rig = new Rig({
      nodes: 1,
      nodeLimits: { fillBudgetBytes: 2 * blockBytes },
      policy: { admitOnFirstRead: true },
    });
    rig.nodes[0]!.disk.writeDelayMs = 1_000_000;
    rig.s3.put(0, 'b', 'k', 6 * blockBytes);
    const client = rig.ask('k');
    while (client.isOpen) assert.ok(rig.step(), 'nobody waits for ever');
    assertRight(rig, client);
    assert.ok(rig.queue.now < 1000);
    rig.settle();
    rig.assertNothingLeft();
  });

  test('idle fetches give theirs up for readers that wait', () => {
    const rig = new Rig({ nodes: 1, nodeLimits: { fillBudgetBytes: 3 * blockBytes } });
    rig.s3.put(0, 'b', 'k', chunkBytes);
    rig.s3.put(0, 'b', 'l', chunkBytes);
    const stalled = rig.ask('k');
    stalled.isStalled = true;
    rig.settle();
    const other = rig.get('l');
    assertRight(rig, other);
    assert.equal(rig.count('directStreams'), 0);
    rig.resume(stalled);
    rig.settle();
    assertRight(rig, stalled);
    rig.assertNothingLeft();
  });

  test('idle fetches make room for new ones', () => {
    const rig = new Rig({ nodes: 1, nodeLimits: { maxFetches: 1 } });
    rig.s3.put(0, 'b', 'k', chunkBytes);
    rig.s3.put(0, 'b', 'l', 100);
    const stalled = rig.ask('k');
    stalled.isStalled = true;
    rig.settle();
    assertRight(rig, rig.get('l'));
    rig.leave(stalled);
    rig.assertNothingLeft();
  });

  test('when every fetch is busy, one more is told to slow down', () => {
    const rig = new Rig({ nodes: 1, nodeLimits: { maxFetches: 1 } });
    rig.s3.put(0, 'b', 'k', 100);
    rig.s3.put(0, 'b', 'l', 100);
    const first = rig.ask('k');
    const second = rig.ask('l');
    rig.settle();
    assertRight(rig, first);
    assert.equal(second.code, 'SlowDown');
    assert.equal(rig.count('fetchesExhausted'), 1);
    rig.assertNothingLeft();
  });

  test('a disk that cannot keep up costs blocks that are not stored, never a read', () => {
    const rig = new Rig({
      nodes: 1,
      nodeLimits: { maxFetches: 4, maxWrites: 2 },
      policy: { admitOnFirstRead: true },
    });
    rig.nodes[0]!.disk.writeDelayMs = 1_000_000;
    for (let key = 0; key < 12; key++) {
      rig.s3.put(rig.queue.now, 'b', `k${key}`, 100);
      const client = rig.ask(`k${key}`);
      while (client.isOpen) assert.ok(rig.step());
      assertRight(rig, client);
    }
    assert.equal(rig.count('fetchesExhausted'), 0);
    assert.equal(rig.count('writesExhausted'), 10);
    rig.settle();
    assert.equal(rig.count('blocksStored'), 2);
    rig.assertNothingLeft();
  });

  test('a store whose every slot is pinned is read around', () => {
    const rig = new Rig({ nodes: 1, storeBytes: 1 << 20, policy: { admitOnFirstRead: true } });
    const [node] = rig.nodes;
    rig.s3.put(0, 'b', 'full', 80 * blockBytes);
    rig.get('full');
    const pinned: number[] = [];
    const version = rig.get('full', { head: true }).metadata!.version;
    for (let block = 0; block < 80; block++) {
      const slot = node!.store.find(version, block);
      if (slot < 0) continue;
      node!.store.pin(slot);
      pinned.push(slot);
    }
    rig.s3.put(rig.queue.now, 'b', 'k', 2 * blockBytes);
    assertRight(rig, rig.get('k'));
    assert.ok(rig.count('storeExhausted') > 0);
    for (const slot of pinned) node!.store.unpin(slot);
    rig.assertNothingLeft();
  });
});

/** A write of the object that passes through its home; returns its ETag. */
function writeThroughHome(rig: Rig): string {
  const home = rig.homeOf('k').node;
  home.onWrite(rig.queue.now, objectHash('b', 'k'), 'started');
  const etag = rig.s3.put(rig.queue.now, 'b', 'k', 20);
  home.onWrite(rig.queue.now, objectHash('b', 'k'), 'finished');
  return etag;
}

describe('the home', () => {
  test('a stale object that is held costs a request without bytes', () => {
    const rig = new Rig({ policy: { admitOnFirstRead: true, ttlMs: 100 } });
    rig.s3.put(0, 'b', 'k', 1000);
    rig.get('k');
    rig.pass(200);
    const fetched = rig.count('fetchedBytes');
    const client = rig.get('k');
    assertRight(rig, client);
    assert.equal(rig.count('confirmations'), 1);
    assert.equal(rig.count('fetchedBytes'), fetched);
    assert.equal(rig.s3.requests.at(-1)!.ifNoneMatch, client.metadata!.etag);
    rig.assertNothingLeft();
  });

  test('a stale object that is not held is asked for with its bytes: one request', () => {
    const rig = new Rig({ nodes: 1, policy: { ttlMs: 100 } });
    rig.s3.put(0, 'b', 'k', 1000);
    rig.get('k');
    rig.pass(200);
    assertRight(rig, rig.get('k'));
    assert.equal(rig.s3.requests.length, 2);
    rig.assertNothingLeft();
  });

  test('a revalidation that brings a new version serves that', () => {
    const rig = new Rig({ policy: { admitOnFirstRead: true, ttlMs: 100 } });
    rig.s3.put(0, 'b', 'k', 1000);
    rig.get('k');
    rig.pass(200);
    const etag = rig.s3.put(rig.queue.now, 'b', 'k', 1500);
    const client = rig.get('k');
    assertRight(rig, client);
    assert.equal(client.metadata!.etag, etag);
    rig.assertNothingLeft();
  });

  test('a request that comes to nothing fails those that asked before it was sent, and nobody later', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 100);
    rig.s3.faultOf = () => ({ kind: 'unreachable' });
    const before = rig.ask('k');
    while (rig.count('firstFetches') === 0) rig.step();
    const later = rig.ask('k');
    untilRequests(rig, 1);
    rig.s3.faultOf = () => null;
    rig.settle();
    assert.deepEqual([before.end, before.code], ['error', 'ServiceUnavailable']);
    assertRight(rig, later);
    rig.assertNothingLeft();
  });

  test('a 404 reaches those that asked before it was fetched, and nobody later', () => {
    const rig = new Rig({ policy: { ttlMs: 60_000 } });
    const early = rig.ask('k');
    while (rig.count('firstFetches') === 0) rig.step();
    const late = rig.ask('k');
    untilRequests(rig, 1);
    rig.s3.put(rig.queue.now, 'b', 'k', 10);
    rig.settle();
    assert.equal(early.originError?.status, 404);
    assertRight(rig, late);
    rig.assertNothingLeft();
  });

  test('with a lifetime of 0, readers share no request that was out when they came', () => {
    const rig = new Rig({ policy: { ttlMs: 0 } });
    rig.s3.put(0, 'b', 'k', 10);
    const early = rig.ask('k', { head: true });
    while (rig.count('firstFetches') === 0) rig.step();
    const late = [rig.ask('k', { head: true }), rig.ask('k', { head: true })];
    untilRequests(rig, 1);
    const etag = rig.s3.put(rig.queue.now, 'b', 'k', 20);
    rig.settle();
    assert.equal(early.end, 'finished');
    for (const client of late) assert.equal(client.metadata?.etag, etag);
    assert.equal(rig.s3.requests.length, 2, 'those that came late share the next one');
    rig.assertNothingLeft();
  });

  test('a first fetch that a write overtakes answers its readers, but is not kept', () => {
    const rig = new Rig({ policy: { ttlMs: 60_000 } });
    const old = rig.s3.put(0, 'b', 'k', 10);
    const early = rig.ask('k', { head: true });
    while (rig.count('firstFetches') === 0) rig.step();
    const late = rig.ask('k', { head: true });
    untilRequests(rig, 1);
    const etag = writeThroughHome(rig);
    rig.settle();
    assert.equal(early.metadata?.etag, old);
    assert.equal(late.metadata?.etag, etag);
    rig.pass(2000);
    assert.equal(rig.get('k', { head: true }).metadata?.etag, etag);
    rig.assertNothingLeft();
  });

  test('a first fetch that a write overtakes is not what the home goes by afterwards', () => {
    const rig = new Rig({ policy: { ttlMs: 60_000 } });
    const old = rig.s3.put(0, 'b', 'k', 10);
    const early = rig.ask('k', { head: true });
    untilRequests(rig, 1);
    const etag = writeThroughHome(rig);
    rig.settle();
    assert.equal(early.metadata?.etag, old);
    // Until the gateway asks again.
    rig.pass(2000);
    assert.equal(rig.get('k', { head: true }).metadata?.etag, etag);
    rig.assertNothingLeft();
  });

  test('a write makes the home forget what it knew', () => {
    const rig = new Rig({ policy: { immutable: true }, gatewayLimits: { metadataEntries: 1 } });
    rig.s3.put(0, 'b', 'k', 10);
    rig.get('k', { head: true });
    const etag = rig.s3.put(rig.queue.now, 'b', 'k', 20);
    rig.homeOf('k').node.onWrite(rig.queue.now, objectHash('b', 'k'), 'finished');
    rig.get('another', { head: true });
    rig.s3.put(rig.queue.now, 'b', 'another', 1);
    rig.get('another', { head: true });
    assert.equal(rig.get('k', { head: true }).metadata?.etag, etag);
    rig.assertNothingLeft();
  });

  test('a version that turned out to be gone is not answered to others', () => {
    const rig = new Rig({ policy: { immutable: true }, gatewayLimits: { maxRestarts: 0 } });
    rig.s3.put(0, 'b', 'k', 100_000);
    rig.get('k', { head: true });
    const etag = rig.s3.put(rig.queue.now, 'b', 'k', 100_000);
    assert.equal(rig.get('k').end, 'passThrough');
    assert.equal(rig.get('k', { head: true }).metadata?.etag, etag);
    rig.assertNothingLeft();
  });

  test('a bucket that points at another origin never serves the old one’s bytes', () => {
    const rig = new Rig({ policy: { immutable: true, admitOnFirstRead: true } });
    const etag = rig.s3.put(0, 'b', 'k', 3 * blockBytes);
    const before = rig.get('k').metadata!;
    rig.identity.pointAt('b', 'second');
    const stored = rig.count('readsFromDisk');
    const client = rig.get('k', { range: bounded(2 * smallAnswerBytes, 3 * blockBytes - 1) });
    assertRight(rig, client);
    assert.equal(rig.count('readsFromDisk'), stored, 'though its gateway knew only the old one');
    assert.equal(client.metadata!.etag, etag);
    assert.notDeepEqual(client.metadata!.version, before.version);
    rig.assertNothingLeft();
  });

  test('nothing of the present origin is stored under the name of the former one', () => {
    const rig = new Rig({ nodes: 1, policy: { immutable: true, admitOnFirstRead: true } });
    rig.s3.put(0, 'b', 'k', 3 * blockBytes);
    const { version } = rig.get('k', { head: true }).metadata!;
    rig.identity.pointAt('b', 'second');
    assertRight(rig, rig.get('k'));
    const { store } = rig.nodes[0]!;
    for (const block of [0, 1, 2]) assert.equal(store.find(version, block), NO_SLOT);
    assert.equal(store.counters.blocks, 3);
    rig.assertNothingLeft();
  });
});

describe('requests that contradict themselves', () => {
  /** Changes every read of a kind on its way to the node. */
  function garble(
    rig: Rig,
    kind: ReadRequest['kind'],
    change: (request: ReadRequest) => void,
  ): void {
    const send = rig.sendRead.bind(rig);
    rig.sendRead = (read, nodeId, request) => {
      if (request.kind === kind) change(request);
      send(read, nodeId, request);
    };
  }

  test('a hash that isn’t the key’s is refused before S3 is asked', () => {
    const rig = new Rig({ nodes: 1 });
    rig.s3.put(0, 'b', 'k', 10);
    garble(rig, 'lookup', (request) => (request.key = 'other'));
    assert.equal(rig.get('k').code, 'ServiceUnavailable');
    assert.equal(rig.s3.requests.length, 0);
    assert.equal(rig.count('badRequests'), 1);
    rig.assertNothingLeft();
  });

  const changes: [string, (request: ReadRequest) => void][] = [
    ['a hash that isn’t the key’s', (request) => (request.hash.h0 ^= 1)],
    ['bytes behind the object', (request) => (request.size = request.last)],
    ['bytes of two blocks', (request) => (request.last += blockBytes)],
    ['a range that runs backwards', (request) => (request.last = request.first - 1)],
    ['a part that ends before its bytes', (request) => (request.partLast = request.first)],
    ['bytes before the object', (request) => (request.first = -1)],
  ];
  for (const [name, change] of changes) {
    test(`${name}: no block is fetched for it`, () => {
      const rig = new Rig({ nodes: 1 });
      rig.s3.put(0, 'b', 'k', 3 * blockBytes);
      rig.get('k', { head: true });
      garble(rig, 'blocks', change);
      assert.equal(rig.get('k').code, 'ServiceUnavailable');
      assert.equal(rig.s3.requests.length, 1);
      assert.equal(rig.count('badRequests'), 1);
      rig.assertNothingLeft();
    });
  }

  test('bytes behind a block that is held don’t come from its slot, where another’s may lie', () => {
    const rig = new Rig({ nodes: 1, policy: { admitOnFirstRead: true } });
    rig.s3.put(0, 'b', 'k', blockBytes + 100);
    assertRight(rig, rig.get('k'));
    const range = bounded(blockBytes, blockBytes + 99);
    assertRight(rig, rig.get('k', { range }));
    assert.ok(rig.count('readsFromDisk') > 0);
    garble(rig, 'blocks', (request) => {
      request.last += 50;
      request.partLast += 50;
      request.size += 50;
    });
    assertRight(rig, rig.get('k', { range }));
    assert.equal(rig.gateway.counters.badAnswers, 0, 'none of 150 bytes came');
    rig.assertNothingLeft();
  });

  test('a version that isn’t of this origin counts as changed', () => {
    const rig = new Rig({ nodes: 1, gatewayLimits: { maxRestarts: 1 } });
    rig.s3.put(0, 'b', 'k', 3 * blockBytes);
    rig.get('k', { head: true });
    garble(rig, 'blocks', (request) => (request.version.h0 ^= 1));
    // The restart brings its first bytes along with the metadata, so the answer has begun by the time of the next piece.
    const client = rig.get('k');
    assert.equal(client.end, 'aborted');
    assert.equal(rig.gateway.counters.restarts, 1);
    rig.assertNothingLeft();
  });
});

test('events of fetches that are over find nothing', () => {
  const rig = new Rig({ nodes: 1 });
  rig.s3.put(0, 'b', 'k', 100);
  const [node] = rig.nodes;
  const client = rig.ask('k');
  while (node!.originFetches.size === 0) rig.step();
  const [id] = node!.originFetches.ids();
  rig.settle();
  assertRight(rig, client);
  const { now } = rig.queue;
  const { head } = rig.s3.answer(now, rig.s3.requests[0]!);
  node!.node.onFetchHead(now, id!, head!);
  node!.node.onFetchBytes(now, id!, 10);
  node!.node.onFetchEnd(now, id!, 'complete');
  node!.node.onFetchFailed(now, id!, null);
  node!.node.onReadCancelled(now, 1);
  rig.assertNothingLeft();
});

test('a reader that starts over finds what was stored meanwhile', () => {
  const rig = new Rig({ nodes: 1 });
  rig.s3.put(0, 'b', 'k', 2 * blockBytes);
  rig.get('k', { head: true });
  const [node] = rig.nodes;
  const start = node!.startFetch.bind(node);
  node!.startFetch = (id, request) => {
    const copy = { ...request };
    if (request.last === 99) rig.queue.in(50, () => start(id, copy));
    else start(id, request);
  };
  rig.s3.faultOf = ({ last }) =>
    last === 99 ? { kind: 'status', status: 500, code: 'InternalError' } : null;
  const early = rig.ask('k', { range: bounded(0, 99) });
  while (rig.count('fills') === 0) rig.step();
  const late = rig.ask('k', { range: bounded(0, 50) });
  const other = rig.ask('k', { range: bounded(200, 299) });
  rig.settle();
  assert.equal(early.originError?.code, 'InternalError');
  assertRight(rig, late, other);
  assert.equal(rig.count('readsFromDisk'), 1);
  rig.assertNothingLeft();
});

test('the node refuses to be called from within an effect', () => {
  const rig = new Rig({ nodes: 1 });
  const [node] = rig.nodes;
  node!.startFetch = () => {
    node!.node.onTick(0);
  };
  assert.throws(() => rig.get('k'), /never call the node back/);
});
