import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { candidates } from '../placement.ts';
import { Ring } from '../ring.ts';
import { NO_SLOT } from '../store/store.ts';
import { objectHash } from '../testing/identity.ts';
import { judge } from '../testing/judge.ts';
import { blockBytes, Rig, type RigOptions } from '../testing/rig.ts';
import type { TestClient } from '../testing/test-client.ts';
import type { TestNode } from '../testing/test-node.ts';

const hotThreshold = 20;
const leaseMs = 1000;
const hotReplicas = 2;

function assertRight(rig: Rig, ...clients: TestClient[]): void {
  for (const client of clients) {
    assert.equal(client.end, 'finished');
    assert.equal(judge(rig.s3, client, client.startedAt - rig.policy.ttlMs), '');
  }
}

/** Four nodes, and an object that its home holds. */
function rigWith(options: RigOptions = {}): Rig {
  const rig = new Rig({
    nodes: 4,
    ...options,
    policy: { ttlMs: 60_000, admitOnFirstRead: true, ...options.policy },
    nodeLimits: { hotThreshold, leaseMs, hotReplicas, ...options.nodeLimits },
  });
  rig.s3.put(0, 'b', 'k', blockBytes);
  assertRight(rig, rig.get('k'));
  return rig;
}

function readMany(rig: Rig, count: number, key = 'k'): void {
  for (let read = 0; read < count; read++) assertRight(rig, rig.get(key));
}

/** Reads at a steady pace for a while. */
function readFor(rig: Rig, ms: number, pauseMs: number): void {
  const end = rig.queue.now + ms;
  const clients: TestClient[] = [];
  while (rig.queue.now < end) {
    clients.push(rig.ask('k'));
    rig.pass(pauseMs);
  }
  rig.settle();
  assertRight(rig, ...clients);
}

/** The object is hot, and lent: its home, and those that hold a lease. */
function hotRig(options: RigOptions = {}): { rig: Rig; home: TestNode; holders: TestNode[] } {
  const rig = rigWith(options);
  readMany(rig, hotThreshold + 2);
  const home = rig.homeOf('k');
  const holders = rig.nodes.filter(({ node }) => node.levels().leasesHeld > 0);
  assert.equal(home.node.levels().leasesGranted, 1);
  assert.equal(holders.length, options.nodeLimits?.hotReplicas ?? hotReplicas);
  return { rig, home, holders };
}

function readsOf({ node }: TestNode): number {
  const { readsFromDisk, readsFromFill, readsFromPeers, readsFromS3 } = node.counters;
  return readsFromDisk + readsFromFill + readsFromPeers + readsFromS3;
}

function holds(rig: Rig, node: TestNode): boolean {
  const { version } = rig.get('k').metadata!;
  return node.store.find(version, 0) !== NO_SLOT;
}

describe('a placement that is read a lot', () => {
  test('is lent once it passes the threshold, and not before', () => {
    const rig = rigWith();
    // So small that one question brings it all.
    rig.s3.put(rig.queue.now, 'b', 'small', 5);
    readMany(rig, hotThreshold - 1, 'small');
    assert.equal(rig.count('leasesGranted'), 0);
    readMany(rig, 1, 'small');
    assert.equal(rig.count('leasesGranted'), 1);
    assert.equal(rig.count('leasesTaken'), hotReplicas);
  });

  test('is lent to the candidates ranked next, and to nobody where that is switched off', () => {
    const { rig, home, holders } = hotRig();
    const placement = objectHash('b', 'k');
    const lent = rig.messages.filter(({ kind }) => kind === 'lease');
    assert.deepEqual(
      lent.map(({ from }) => from),
      [rig.nodes.indexOf(home), rig.nodes.indexOf(home)],
    );
    for (const { placement: one } of lent)
      assert.deepEqual(one, { hi: placement.h0, lo: placement.h1 });
    assert.equal(holders.length, hotReplicas);
    const off = rigWith({ nodeLimits: { hotReplicas: 0 } });
    readMany(off, 5 * hotThreshold);
    assert.equal(off.count('leasesGranted'), 0);
  });

  test('is read from its owner and from those that hold a lease, evenly', () => {
    const { rig, home, holders } = hotRig();
    const all = [home, ...holders];
    const before = all.map(readsOf);
    readMany(rig, 30);
    assert.deepEqual(
      all.map((node, at) => readsOf(node) - before[at]!),
      [10, 10, 10],
    );
  });

  test('comes to each of them from the owner, once, and never from S3 again', () => {
    const { rig, holders } = hotRig();
    readMany(rig, 30);
    assert.equal(rig.s3.requests.length, 1);
    for (const { node } of holders) {
      assert.equal(node.counters.blocksTakenOver, 1);
      assert.equal(node.counters.blocksStored, 1);
    }
    rig.assertNothingLeft();
  });

  test('stays lent while it is hot, since holders report what they serve', () => {
    const { rig } = hotRig();
    readFor(rig, 5 * leaseMs, 40);
    assert.ok(rig.count('leasesRenewed') >= 5, `${rig.count('leasesRenewed')} times renewed`);
    assert.equal(rig.count('leasesGranted'), 1);
    assert.equal(rig.count('leasesLapsed'), 0);
    assert.ok(rig.messages.some(({ kind, reads }) => kind === 'report' && reads > 0));
  });

  test('is lent no longer once all together have fewer than half of the threshold', () => {
    const { rig } = hotRig();
    readFor(rig, 3 * leaseMs, 200);
    assert.equal(rig.count('leasesLapsed'), hotReplicas);
    for (const { node } of rig.nodes) {
      const { leasesGranted, leasesHeld } = node.levels();
      assert.equal(leasesGranted + leasesHeld, 0);
    }
    const spread = rig.gateway.counters.spreadReads;
    readMany(rig, 5);
    assert.equal(rig.gateway.counters.spreadReads, spread, 'reads go to the owner again');
    rig.assertNothingLeft();
  });

  test('and the blocks that were lent go first afterwards', () => {
    const { rig, holders } = hotRig({
      storeBytes: 40 * blockBytes,
      nodeLimits: { standInMs: 500 },
    });
    readMany(rig, 9);
    assert.ok(holders.every((node) => holds(rig, node)));
    rig.pass(3000);
    // Whatever comes next makes room for itself that way.
    for (let at = 0; rig.nodes.some(({ store }) => store.counters.evictions < 2); at++) {
      rig.s3.put(rig.queue.now, 'b', `crowd${at}`, blockBytes);
      assertRight(rig, rig.get(`crowd${at}`));
    }
    assert.ok(holders.every((node) => !holds(rig, node)));
  });
});

test('what is still lent keeps its place when the lease of something else is over', () => {
  const { rig, holders } = hotRig({
    storeBytes: 40 * blockBytes,
    nodeLimits: { standInMs: 100, hotReplicas: 3 },
    nodes: 4,
  });
  rig.s3.put(rig.queue.now, 'b', 'other', blockBytes);
  readMany(rig, hotThreshold + 9, 'other');
  readFor(rig, 3 * leaseMs, 20);
  assert.ok(rig.count('leasesLapsed') > 0, 'the other one is lent no longer');
  for (let at = 0; rig.nodes.some(({ store }) => store.counters.evictions < 2); at++) {
    rig.s3.put(rig.queue.now, 'b', `crowd${at}`, blockBytes);
    assertRight(rig, rig.get(`crowd${at}`));
    if (at % 3 === 0) readFor(rig, 60, 15);
  }
  assert.ok(holders.every((node) => holds(rig, node)));
});

describe('what holders know', () => {
  test('is as old as it is at the owner, and confirmed when it is too old', () => {
    const ttlMs = 700;
    const { rig } = hotRig({ policy: { ttlMs }, gatewayLimits: { gatewayTtlMs: 1 } });
    readFor(rig, 300, 10);
    rig.s3.put(rig.queue.now, 'b', 'k', blockBytes + 3);
    const changedAt = rig.queue.now;
    readFor(rig, 3 * ttlMs, 10);
    for (const client of rig.clients.values()) {
      if (client.startedAt > changedAt + ttlMs) assert.equal(client.metadata?.size, blockBytes + 3);
    }
    const requests = rig.s3.requests.filter(({ at }) => at > changedAt).length;
    assert.ok(requests < 14, `${requests} requests for three lifetimes of three nodes`);
    rig.assertNothingLeft();
  });

  test('is dropped when a write passes its home, which tells them', () => {
    const { rig, holders } = hotRig({ gatewayLimits: { gatewayTtlMs: 1 } });
    readMany(rig, 9);
    for (const { node } of holders) assert.equal(node.levels().metadataEntries, 1);
    rig.write('k', 5);
    rig.settle();
    for (const { node } of holders) {
      assert.equal(node.counters.writesHeardOf, 2, 'as it starts and as it ends');
      assert.equal(node.levels().metadataEntries, 0);
    }
  });

  test('is not believed by whoever wrote, though nobody told them of the write', () => {
    const { rig } = hotRig({ gatewayLimits: { gatewayTtlMs: 1 } });
    readMany(rig, 9);
    rig.losesMessages = true;
    for (let size = 1; size < 8; size++) {
      rig.write('k', size);
      for (let read = 0; read < 4; read++) {
        const client = rig.get('k');
        assert.equal(client.end, 'finished');
        assert.equal(client.metadata?.size, size);
      }
    }
    rig.losesMessages = false;
    rig.assertNothingLeft();
  });

  test('S3 has if their owner has lost it', () => {
    const { rig, home } = hotRig();
    home.store.remove(rig.get('k').metadata!.version, 0);
    readMany(rig, 9);
    rig.assertNothingLeft();
  });
});

describe('when nodes come and go', () => {
  test('a holder that is down is gone round, and another takes its place with the next lease', () => {
    const { rig, holders } = hotRig();
    readMany(rig, 3);
    const [lost] = holders;
    lost!.isDown = true;
    readFor(rig, 3 * leaseMs, 30);
    const now = rig.nodes.filter(({ node, isDown }) => !isDown && node.levels().leasesHeld > 0);
    assert.equal(now.length, hotReplicas);
    lost!.isDown = false;
    rig.assertNothingLeft();
  });

  test('of a dead owner the holders go on, and after their leases the candidates do', () => {
    const { rig, home } = hotRig();
    readMany(rig, 9);
    home.isDown = true;
    const before = rig.s3.requests.length;
    readFor(rig, leaseMs / 2, 20);
    assert.equal(rig.s3.requests.length, before, 'nothing but what they hold');
    readFor(rig, 2 * leaseMs, 50);
    home.isDown = false;
    readFor(rig, 6000, 100);
    rig.assertNothingLeft();
  });

  test('an owner that restarts knows nothing of its leases, and lends again', () => {
    const { rig, home } = hotRig();
    readMany(rig, 9);
    home.crash();
    assert.equal(home.node.levels().leasesGranted, 0);
    readFor(rig, 2 * leaseMs, 10);
    assert.equal(home.node.levels().leasesGranted, 1);
    rig.assertNothingLeft();
  });

  test('a holder that restarts holds nothing: it reads through, and stores nothing', () => {
    const { rig, holders } = hotRig();
    const [holder] = holders;
    holder!.crash();
    const { blocksStored } = holder!.node.counters;
    readMany(rig, 9);
    assert.equal(holder!.node.counters.blocksStored, blocksStored);
    rig.assertNothingLeft();
  });

  test('a new ring makes hints void, and an owner that owns no longer doesn’t renew', () => {
    const { rig, home } = hotRig({ spareNodes: 0 });
    const left = rig.nodes.indexOf(home);
    rig.changeRing(
      [0, 1, 2, 3].filter((nodeId) => nodeId !== left),
      true,
    );
    assert.equal(rig.gateway.levels().hotHints, 0);
    readFor(rig, 3 * leaseMs, 10);
    assert.equal(home.node.levels().leasesGranted, 0);
    const owner = rig.homeOf('k');
    assert.notEqual(owner, home);
    assert.equal(owner.node.levels().leasesGranted, 1);
    rig.assertNothingLeft();
  });

  test('a node that accepts no lease is asked nothing', () => {
    // The same nodes are ranked next in both.
    const one = hotRig();
    const silent = one.rig.nodes.indexOf(one.holders[0]!);
    const rig = rigWith();
    rig.nodes[silent]!.isSilent = true;
    readMany(rig, 3 * hotThreshold);
    assert.equal(rig.count('leasesTaken'), 1);
    assert.ok(rig.gateway.counters.spreadReads > 0, 'the other one is');
    rig.nodes[silent]!.isSilent = false;
    rig.assertNothingLeft();
  });

  test('leases that never arrive are no hint: all reads go to the owner', () => {
    const rig = rigWith();
    rig.losesMessages = true;
    readMany(rig, 3 * hotThreshold);
    assert.equal(rig.count('leasesGranted'), 1);
    assert.equal(rig.gateway.counters.spreadReads, 0);
    assert.equal(rig.s3.requests.length, 1);
  });
});

test('a lease that is over admits nothing, though its block was on its way', () => {
  const rig = rigWith({ gatewayLimits: { gatewayTtlMs: 10_000 } });
  rig.s3.put(0, 'b', 'wide', 2 * blockBytes);
  assertRight(rig, rig.get('wide'));
  const start = { range: { kind: 'bounded', first: 0, last: 9 } } as const;
  while (rig.count('leasesTaken') < hotReplicas) assertRight(rig, rig.get('wide', start));
  assertRight(rig, rig.get('wide', start));
  const holders = rig.nodes.filter(({ node }) => node.levels().leasesHeld > 0);
  rig.pass(leaseMs - 150);
  // The question gets there in time, what it is answered with doesn't.
  rig.delayMs = () => 100;
  const range = { kind: 'bounded', first: blockBytes, last: 2 * blockBytes - 1 } as const;
  const clients = [1, 2, 3].map(() => rig.ask('wide', { range }));
  rig.pass(10_000);
  assertRight(rig, ...clients);
  const { version } = clients[0]!.metadata!;
  const late = holders.filter(({ node }) => node.counters.readsFromPeers > 0);
  assert.ok(late.length > 0, 'holders got it from its owner');
  const before = late.map(({ store }) => store.find(version, 1) !== NO_SLOT);
  assert.deepEqual(
    before,
    before.map(() => false),
  );
  rig.assertNothingLeft();
});

describe('a node that holds as many leases as it may', () => {
  const ring = new Ring(
    1,
    [0, 1, 2, 3].map((nodeId) => ({ nodeId, weight: 1, address: '' })),
  );
  /** The first four nodes by rank: the owner, and those that it lends to. */
  function rankedFor(key: string): number[] {
    const { h0: hi, h1: lo } = objectHash('b', key);
    const ranked: number[] = [];
    candidates(ring, { hi, lo }, 4, ranked);
    return ranked;
  }
  /** As many keys of an owner that are lent to one node first. */
  function keysOf(owner: number, next: number, count: number): string[] {
    const keys = Array.from({ length: 400 }, (_, nth) => `key${nth}`);
    return keys
      .filter((key) => rankedFor(key)[0] === owner && rankedFor(key)[1] === next)
      .slice(0, count);
  }

  const [full, owner, another] = [0, 1, 2];
  const [kept, refused] = keysOf(owner, full, 2);
  const [filling] = keysOf(another, full, 1);
  /** Node 0 has room for two leases: one of each owner. The third is refused. */
  const fullRig = (): Rig => {
    const rig = new Rig({
      nodes: 4,
      policy: { ttlMs: 60_000, admitOnFirstRead: true },
      nodeLimits: { hotThreshold, leaseMs, hotReplicas: 1, maxLeases: 2 },
    });
    for (const key of [kept!, filling!, refused!]) {
      rig.s3.put(rig.queue.now, 'b', key, 5);
      readMany(rig, hotThreshold + 2, key);
    }
    return rig;
  };
  const holdersOf = (rig: Rig): number[] => rig.nodes.map(({ node }) => node.levels().leasesHeld);

  test('says so, and the next candidate gets the lease at once', () => {
    const rig = fullRig();
    assert.equal(rig.count('leasesExhausted'), 1);
    assert.equal(rig.count('leasesRefused'), 1);
    const second = rankedFor(refused!)[2]!;
    assert.deepEqual(
      holdersOf(rig),
      [0, 1, 2, 3].map((at) => (at === full ? 2 : +(at === second))),
    );
    const { messages } = rig;
    const leased = messages.filter(({ kind, from }) => kind === 'lease' && from === owner);
    assert.equal(leased.length, 3, 'one each, and one more for the one that was refused');
    const before = rig.gateway.counters.spreadReads;
    readMany(rig, 10, refused);
    assert.equal(rig.gateway.counters.spreadReads - before, 5, 'and serves half of its reads');
  });

  test('keeps those that it has for as long as they are hot', () => {
    const rig = fullRig();
    const end = rig.queue.now + 4 * leaseMs;
    while (rig.queue.now < end) {
      for (const key of [kept!, filling!, refused!]) rig.ask(key);
      rig.pass(40);
    }
    rig.settle();
    assert.equal(rig.count('leasesLapsed'), 0);
    assert.equal(holdersOf(rig)[full], 2);
    assert.ok(rig.count('leasesRenewed') >= 9, `${rig.count('leasesRenewed')} renewed`);
    rig.assertNothingLeft();
  });
});

test('no more placements are lent than may be', () => {
  const rig = rigWith({ nodes: 2, nodeLimits: { maxLeases: 2, hotReplicas: 1 } });
  for (const key of ['l', 'm', 'n', 'o', 'p', 'q']) {
    rig.s3.put(rig.queue.now, 'b', key, blockBytes);
    readMany(rig, hotThreshold + 5, key);
  }
  for (const { node } of rig.nodes) {
    const { leasesGranted, leasesHeld } = node.levels();
    assert.ok(leasesGranted <= 2 && leasesHeld <= 2);
  }
  assert.ok(rig.count('leasesExhausted') > 0);
  rig.assertNothingLeft();
});
