import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ring } from '@s3-accelerator/core/ring.ts';
import { createLog, FaultLog } from '../log.ts';
import type { PeerAddress } from '../peers/peers.ts';
import { ProcessRing } from './process-ring.ts';
import { addressesOf, RingFollower } from './ring-follower.ts';

/** The links of a gateway, as far as following goes. */
class TestPeers {
  members: readonly PeerAddress[] = [];
  isReached = false;
  tries = 0;

  setMembers(members: readonly PeerAddress[]): void {
    this.members = members;
  }

  reachesAny(): boolean {
    this.tries += 1;
    return this.isReached;
  }

  get ports(): number[] {
    return this.members.map(({ port }) => port);
  }
}

const named = [7, 8].map((id) => ({ nodeId: id, host: '127.0.0.1', port: 9000 + id }));
const ringOf = (version: number, ...ports: number[]): Ring =>
  new Ring(
    version,
    ports.map((port) => ({ nodeId: port, weight: 1, address: `127.0.0.1:${port}` })),
  );

function arrange(): { peers: TestPeers; ring: ProcessRing; follower: RingFollower } {
  const log = createLog('silent');
  const peers = new TestPeers();
  const ring = new ProcessRing({ windowMs: 1000, isFollowed: true, now: () => 0 });
  const faults = new FaultLog(log);
  return { peers, ring, follower: new RingFollower({ ring, peers, named, log, faults }) };
}

test('the named nodes are tried until one gives a ring', () => {
  const { peers, ring, follower } = arrange();
  assert.deepEqual(peers.ports, [9007, 9008]);
  assert.match(follower.notReady() ?? '', /none of 127\.0\.0\.1:9007, 127\.0\.0\.1:9008 has/);
  for (let now = 0; now < 1000; now += 50) follower.tick(now);
  assert.equal(peers.tries, 10);
  ring.advance(ringOf(3, 1, 2));
  assert.equal(follower.notReady(), null);
  assert.deepEqual(peers.ports, [1, 2]);
});

test('newer rings are followed', () => {
  const { peers, ring } = arrange();
  ring.advance(ringOf(3, 1, 2));
  ring.advance(ringOf(4, 2, 3));
  ring.advance(ringOf(2, 5));
  assert.deepEqual(peers.ports, [2, 3]);
});

test('while no member can be reached the named nodes are asked by turns, until one knows more', () => {
  const { peers, ring, follower } = arrange();
  ring.advance(ringOf(3, 1, 2));
  const asked: string[] = [];
  for (let now = 0; now <= 70_000; now += 100) {
    follower.tick(now);
    const whom = peers.ports.join();
    if (asked.at(-1) !== whom) asked.push(whom);
  }
  assert.deepEqual(asked, ['1,2', '9007,9008', '1,2', '9007,9008', '1,2']);
  ring.advance(ringOf(4, 5));
  assert.deepEqual(peers.ports, [5]);
});

test('as long as a member can be reached nobody else is asked', () => {
  const { peers, ring, follower } = arrange();
  ring.advance(ringOf(3, 1, 2));
  for (let now = 0; now <= 100_000; now += 100) {
    peers.isReached = now % 10_000 === 0;
    follower.tick(now);
    assert.deepEqual(peers.ports, [1, 2]);
  }
});

test('a member whose address is none is left out', () => {
  const members = [
    { nodeId: 1, weight: 1, address: 'nowhere' },
    { nodeId: 2, weight: 1, address: '[::1]:5' },
  ];
  assert.deepEqual(addressesOf(members), [{ nodeId: 2, host: '::1', port: 5 }]);
});
