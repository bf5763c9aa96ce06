import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newReadRequest } from '../read.ts';
import { NO_SLOT } from '../store/store.ts';
import { objectHash } from '../testing/identity.ts';
import { judge } from '../testing/judge.ts';
import { blockBytes, chunkBytes, Rig, type RigOptions } from '../testing/rig.ts';
import type { TestClient } from '../testing/test-client.ts';
import type { TestNode } from '../testing/test-node.ts';
import { Transfer } from '../testing/transfer.ts';

const peerFetchTimeoutMs = 500;
const large = 5 * chunkBytes + 2 * blockBytes + 3;
const keys = Array.from({ length: 40 }, (_, at) => `k${at}`);

function assertRight(rig: Rig, ...clients: TestClient[]): void {
  for (const client of clients) {
    assert.equal(client.end, 'finished');
    assert.equal(judge(rig.s3, client, client.startedAt - rig.policy.ttlMs), '');
  }
}

/** Three nodes that hold all keys, and more that aren't members yet. */
function warmRig(options: RigOptions = {}): Rig {
  const rig = new Rig({ spareNodes: 3, ...options, policy: { ttlMs: 60_000, ...options.policy } });
  for (const key of keys) rig.s3.put(0, 'b', key, key === 'k0' ? large : 2 * blockBytes + 7);
  for (let i = 0; i < 2; i++) readAll(rig);
  return rig;
}

/** Reads everything, and how many requests S3 saw. */
function readAll(rig: Rig): number {
  const before = rig.s3.requests.length;
  for (const key of keys) assertRight(rig, rig.get(key));
  return rig.s3.requests.length - before;
}

/** A key that moves from one of the three to node 3 when that comes, and who has it until then. */
function movingKey(rig: Rig): { key: string; from: TestNode; to: TestNode } {
  const homes = keys.map((key) => rig.homeOf(key));
  rig.changeRing([0, 1, 2, 3], true);
  const to = rig.nodes[3]!;
  const at = keys.findIndex((key, index) => index > 0 && rig.homeOf(key) === to);
  assert.ok(at >= 0, 'some key moves');
  return { key: keys[at]!, from: homes[at]!, to };
}

/** Asks a node for something, past any gateway: what it answered. */
function askOnlyHeld(rig: Rig, node: TestNode, key: string): TestAnswer {
  const request = { ...newReadRequest(), bucket: 'b', key, hash: objectHash('b', key) };
  request.onlyHeld = true;
  const answer: TestAnswer = { failure: '', ageMs: -1 };
  const transfer = new Transfer(-1, request, rig.nodes.indexOf(node), {
    answerArrives: (_, { kind, failure, ageMs }) => {
      if (kind === 'failure') answer.failure = failure;
      else answer.ageMs = ageMs;
    },
    bytesArrive: () => undefined,
    breakArrives: () => undefined,
  });
  rig.askNode(transfer);
  rig.settle();
  return answer;
}

interface TestAnswer {
  failure: string;
  ageMs: number;
}

describe('after a ring change', () => {
  test('a node that comes gets what moves to it from the others, nothing from S3', () => {
    const rig = warmRig();
    rig.changeRing([0, 1, 2, 3], true);
    assert.equal(readAll(rig), 0);
    const { blocksTakenOver, blocksStored, fetchedBytes } = rig.nodes[3]!.node.counters;
    assert.ok(blocksTakenOver > 10, `${blocksTakenOver} blocks moved`);
    assert.equal(blocksStored, blocksTakenOver, 'at once, without a second read');
    assert.equal(fetchedBytes, 0);
    assert.equal(readAll(rig), 0);
    assert.equal(rig.count('blocksTakenOver'), blocksTakenOver, 'once');
    rig.assertNothingLeft();
  });

  test('only what moved is asked for: the other nodes ask nobody', () => {
    const rig = warmRig();
    rig.changeRing([0, 1, 2, 3], true);
    readAll(rig);
    for (const { node } of rig.nodes.slice(0, 3)) assert.equal(node.counters.handoversAsked, 0);
  });

  test('from three nodes to six before anything is read: S3 is asked for next to nothing', () => {
    const rig = warmRig();
    const before = rig.count('fetchedBytes');
    for (const last of [3, 4, 5]) {
      rig.pass(1000);
      rig.changeRing([0, 1, 2, 3, 4, 5].slice(0, last + 1), true);
    }
    assert.equal(readAll(rig), 0);
    assert.equal(rig.count('fetchedBytes'), before);
    rig.assertNothingLeft();
  });

  test('from six nodes to three, those that left hand over what they hold', () => {
    const rig = new Rig({ nodes: 6, policy: { ttlMs: 60_000 } });
    for (const key of keys) rig.s3.put(0, 'b', key, key === 'k0' ? large : 2 * blockBytes + 7);
    for (let i = 0; i < 2; i++) readAll(rig);
    for (const count of [5, 4, 3]) rig.changeRing([0, 1, 2, 3, 4].slice(0, count), true);
    assert.equal(readAll(rig), 0);
    const handedOver = rig.nodes.slice(3).map(({ node }) => node.counters.handedOver);
    assert.ok(handedOver.every((count) => count > 0));
    rig.assertNothingLeft();
  });

  test('once the window is over S3 is asked, and nobody else', () => {
    const rig = warmRig();
    rig.changeRing([0, 1, 2, 3], true);
    rig.pass(600_000);
    assert.ok(readAll(rig) > 0);
    assert.equal(rig.count('handoversAsked'), 0);
  });

  test('metadata comes with the age that it had, and is confirmed in time', () => {
    const rig = warmRig({ policy: { ttlMs: 20_000 }, gatewayLimits: { metadataEntries: 1 } });
    rig.pass(15_000);
    const { key, to } = movingKey(rig);
    const before = rig.s3.requests.length;
    assertRight(rig, rig.get(key));
    assert.equal(to.node.counters.metadataTakenOver, 1);
    assert.equal(rig.s3.requests.length, before);
    rig.pass(6000);
    assertRight(rig, rig.get(key));
    const confirmed = rig.s3.requests.slice(before);
    assert.deepEqual(
      confirmed.map(({ ifNoneMatch }) => ifNoneMatch !== ''),
      [true],
    );
  });

  test('metadata that is too old already costs a request without bytes', () => {
    const rig = warmRig({ policy: { ttlMs: 20_000 }, gatewayLimits: { metadataEntries: 1 } });
    rig.pass(30_000);
    const { key } = movingKey(rig);
    const bytes = rig.count('fetchedBytes');
    const before = rig.s3.requests.length;
    assertRight(rig, rig.get(key));
    assert.equal(rig.s3.requests.length, before + 1);
    assert.equal(rig.count('fetchedBytes'), bytes);
  });

  test('a gateway that wrote sees its write, whatever the previous home knows', () => {
    const rig = warmRig();
    const { key, from, to } = movingKey(rig);
    rig.startWrite(key);
    const etag = rig.s3.put(rig.queue.now, 'b', key, 3 * blockBytes);
    rig.finishWrite(key, 'done');
    assert.ok(askOnlyHeld(rig, from, key).ageMs >= 0, 'the previous home knows the old version');
    const client = rig.get(key);
    assertRight(rig, client);
    assert.equal(client.metadata?.etag, etag);
    assert.equal(to.node.counters.metadataTakenOver, 0);
  });

  test('what a previous home says is not kept once a write came by', () => {
    const rig = warmRig({ gatewayLimits: { metadataEntries: 1 } });
    const { key, to } = movingKey(rig);
    const client = rig.ask(key);
    while (to.node.counters.handoversAsked === 0) assert.ok(rig.step());
    to.node.onWrite(rig.queue.now, objectHash('b', key), 'started');
    const etag = rig.s3.put(rig.queue.now, 'b', key, 3 * blockBytes);
    to.node.onWrite(rig.queue.now, objectHash('b', key), 'finished');
    rig.settle();
    assertRight(rig, client);
    assert.equal(client.metadata?.etag, etag);
    rig.assertNothingLeft();
  });
});

describe('a previous owner that is of no help', () => {
  test('that is down: S3, at once, and for a while it is not asked again', () => {
    const rig = warmRig();
    const { from } = movingKey(rig);
    from.isDown = true;
    // The others are asked by the new owner, whoever is read first.
    const clients = keys.map((key) => rig.get(key));
    assertRight(rig, ...clients);
    assert.ok(clients.every(({ startedAt, endedAt }) => endedAt - startedAt < 100));
    rig.assertNothingLeft();
  });

  test('that says nothing costs one wait, not one for each block', () => {
    const rig = warmRig();
    const { from, to } = movingKey(rig);
    from.isSilent = true;
    const moved = keys.filter((key) => rig.homeOf(key) === to);
    const waits = moved.map((key) => {
      const client = rig.ask(key);
      rig.pass(2 * peerFetchTimeoutMs);
      assertRight(rig, client);
      return client.endedAt - client.startedAt;
    });
    const long = waits.filter((wait) => wait >= peerFetchTimeoutMs);
    assert.equal(long.length, 1, waits.join(', '));
    assert.ok(long[0]! < peerFetchTimeoutMs + 100);
    assert.equal(to.node.counters.handoverTimeouts, 1);
    from.isSilent = false;
    rig.assertNothingLeft();
  });

  test('that lost the block has nothing to say, and S3 brings the rest of the read in one request', () => {
    const rig = warmRig();
    const { key, from, to } = movingKey(rig);
    const { version } = rig.get(key).metadata!;
    for (let block = 0; block < 3; block++) {
      from.store.remove(version, block);
      to.store.remove(version, block);
    }
    const before = rig.s3.requests.length;
    const client = rig.get(key, {
      range: { kind: 'bounded', first: blockBytes, last: 2 * blockBytes + 6 },
    });
    assertRight(rig, client);
    assert.ok(rig.s3.requests.length - before <= 2);
    assert.ok(from.node.counters.notHeld > 0);
    rig.assertNothingLeft();
  });

  test('that breaks off in the middle: the rest of the block comes from S3, of the same version', () => {
    const rig = warmRig();
    const { key, from, to } = movingKey(rig);
    from.cutsHandovers = true;
    const before = rig.s3.requests.length;
    const client = rig.get(key);
    assertRight(rig, client);
    const rests = rig.s3.requests.slice(before);
    assert.ok(rests.length > 0);
    for (const { first, ifMatch } of rests) {
      assert.ok(first % blockBytes > 0, 'from where it broke off');
      assert.equal(ifMatch, client.metadata?.etag);
    }
    assert.ok(to.node.counters.blocksStored > 0);
    from.cutsHandovers = false;
    rig.assertNothingLeft();
  });

  test('that broke off, of a version that is gone from S3: no answer mixes the two', () => {
    const rig = warmRig();
    const { key, from } = movingKey(rig);
    from.cutsHandovers = true;
    rig.s3.put(rig.queue.now, 'b', key, 2 * blockBytes + 7);
    const client = rig.get(key);
    assert.equal(judge(rig.s3, client, client.startedAt - rig.policy.ttlMs), '');
    from.cutsHandovers = false;
    assertRight(rig, rig.get(key));
    rig.assertNothingLeft();
  });

  test('that has the bucket at another origin: what it knows is not believed', () => {
    const rig = warmRig({ gatewayLimits: { metadataEntries: 1 } });
    const { key, to } = movingKey(rig);
    const { node } = to;
    const claim = { h0: 1, h1: 2, h2: 3, h3: 4 };
    const client = rig.ask(key);
    while (node.counters.handoversAsked === 0) assert.ok(rig.step());
    // In place of its answer, one of the same object elsewhere.
    to.peerFetches.falsify((answer) => {
      if (answer.metadata !== null) answer.metadata = { ...answer.metadata, version: claim };
    });
    rig.settle();
    assertRight(rig, client);
    assert.equal(node.counters.metadataTakenOver, 0);
    rig.assertNothingLeft();
  });
});

describe('nodes that are asked for what is not theirs', () => {
  test('one that does not own reads through, and stores nothing', () => {
    const rig = new Rig({ spareNodes: 1 });
    rig.s3.put(0, 'b', 'k', 2 * blockBytes);
    const home = rig.homeOf('k');
    const others = [0, 1, 2, 3].filter((nodeId) => nodeId !== rig.nodes.indexOf(home));
    // The nodes have a ring without the home, the gateway hasn't heard of it.
    const { ring } = rig;
    rig.changeRing(others, true);
    rig.gateway.onRing(rig.queue.now, ring);
    for (let i = 0; i < 3; i++) assertRight(rig, rig.get('k'));
    assert.equal(home.node.counters.blocksStored, 0);
    rig.assertNothingLeft();
  });

  test('only what is held is answered: nobody is asked, no block is fetched', () => {
    const rig = warmRig();
    const stranger = rig.nodes[3]!;
    const before = rig.s3.requests.length;
    assert.equal(askOnlyHeld(rig, stranger, 'k1').failure, 'absent');
    assert.equal(rig.s3.requests.length, before);
    assert.equal(stranger.node.counters.notHeld, 1);
    const known = askOnlyHeld(rig, rig.homeOf('k1'), 'k1');
    assert.equal(known.failure, '');
    assert.ok(known.ageMs > 0);
  });

  test('a stand-in stores what it fetches while the owner is gone', () => {
    const rig = new Rig();
    rig.s3.put(0, 'b', 'k', 2 * blockBytes);
    const home = rig.homeOf('k');
    home.isDown = true;
    for (let i = 0; i < 3; i++) assertRight(rig, rig.get('k'));
    const stored = rig.count('blocksStored');
    assert.equal(stored, 2);
    const before = rig.s3.requests.length;
    assertRight(rig, rig.get('k'));
    assert.equal(rig.s3.requests.length, before);
    rig.assertNothingLeft();
  });
});

describe('blocks that are no longer this node’s', () => {
  const storeBytes = 40 * blockBytes;

  /** Fills node after node with further objects until each has evicted a few blocks. */
  function crowd(rig: Rig, evictions: number): void {
    for (let at = 0; rig.nodes.some(({ store }) => store.counters.evictions < evictions); at++) {
      const key = `crowd${at}`;
      rig.s3.put(rig.queue.now, 'b', key, blockBytes);
      for (let i = 0; i < 2; i++) assertRight(rig, rig.get(key));
    }
  }

  test('go first once the window is over', () => {
    const policy = { immutable: true };
    const rig = new Rig({ spareNodes: 1, storeBytes, policy });
    const mine = Array.from({ length: 24 }, (_, at) => `mine${at}`);
    for (const key of mine) rig.s3.put(0, 'b', key, blockBytes);
    const versions = new Map<string, TestClient>();
    for (let i = 0; i < 4; i++) for (const key of mine) versions.set(key, rig.get(key));
    const before = new Map(mine.map((key) => [key, rig.homeOf(key)]));
    rig.changeRing([0, 1, 2, 3], true);
    rig.pass(601_000);
    crowd(rig, 12);
    for (const key of mine) {
      const home = before.get(key)!;
      const isHeld = home.store.find(versions.get(key)!.metadata!.version, 0) !== NO_SLOT;
      assert.equal(isHeld, rig.homeOf(key) === home, `${key} is held by who owns it`);
    }
  });

  test('of a node that came back go first, too', () => {
    const rig = new Rig({ storeBytes, policy: { immutable: true } });
    rig.s3.put(0, 'b', 'k', 2 * blockBytes);
    const home = rig.homeOf('k');
    home.isDown = true;
    const clients = [1, 2, 3, 4].map(() => rig.get('k'));
    assertRight(rig, ...clients);
    home.isDown = false;
    const { version } = clients[0]!.metadata!;
    const holders = rig.nodes.filter(({ store }) => store.find(version, 0) !== NO_SLOT);
    assert.equal(holders.length, 1);
    rig.pass(61_000);
    crowd(rig, 3);
    assert.equal(holders[0]!.store.find(version, 0), NO_SLOT);
  });
});
