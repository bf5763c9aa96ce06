/**
 * Records of pools are used again and again: nothing of what one was used for before may be left in it. Pools are as small as they
 * can be here, so that each record comes round at once.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Ring } from '@s3-accelerator/core/ring.ts';
import { BLOCK, tell, type Story } from './story.ts';

const immutable = { bucket: 'models' };
const atOnce = { bucket: 'builds' };
const keys = Array.from({ length: 24 }, (_, at) => `a/part-${at}`);

/** Objects of a block that never change, each read twice and on disk. */
function warm(story: Story): void {
  for (const key of keys) story.put(key, BLOCK, 'models');
  for (const key of [...keys, ...keys]) story.get(key, immutable);
  story.settle();
}

/** A node joins; what moved to it is read, and S3 is asked for nothing of it. */
function moveWithoutS3(story: Story): void {
  const [, added] = story.world.nodes;
  story.add(added!);
  const moved = keys.filter((key) => story.homeOf(key, 'models') === added);
  ok(moved.length > 4);
  const fetches = story.fetchesDuring(() => {
    for (const key of moved) equal(story.get(key, immutable).received, BLOCK);
  });
  equal(fetches, 0);
}

test('a node’s reader: previous owners are asked for the next one, though they had nothing for the last one', () => {
  const setting = {
    cluster: { nodes: 1, spareNodes: 1 },
    gateway: { metadataEntries: 1 },
    node: { maxReaders: 2 },
  };
  tell(setting, (story) => {
    warm(story);
    moveWithoutS3(story);
  });
});

test('a node’s reader: the next one shares a fill, though the last one had to have a stream of its own', () => {
  const setting = {
    node: { maxReaders: 2, maxVerifications: 1 },
    delays: { diskMs: 20 },
  };
  tell(setting, (story) => {
    const stored = ['a/one', 'a/other'];
    for (const key of stored) story.put(key, BLOCK, 'models');
    for (const key of [...stored, ...stored]) story.get(key, immutable);
    story.settle();
    const [node] = story.world.nodes;
    story.restart(node!, (host) => {
      host.crash(0);
    });
    story.getAll(stored, immutable);
    ok(node!.run!.node.counters.directStreams > 0, 'one of them was streamed');
    for (const key of keys) story.put(key, BLOCK, 'builds');
    // A GET takes both readers, a HEAD one: so that each of them comes to wait for a block.
    const fetches = story.fetchesDuring(() => {
      for (const key of keys.slice(0, 2)) story.get(key, atOnce);
      story.get(keys[2]!, { ...atOnce, head: true });
      for (const key of keys.slice(3, 5)) story.get(key, atOnce);
    });
    equal(fetches, 5);
  });
});

test('a node’s fetch: what the next one brings isn’t stored for another node, though what the last one brought was', () => {
  tell({ cluster: { nodes: 2 }, node: { maxFetches: 1 } }, (story) => {
    const [home, other] = story.world.nodes;
    const [first, next] = keys.filter((key) => story.homeOf(key, 'builds') === home);
    story.put(first!, BLOCK, 'builds');
    story.put(next!, BLOCK, 'builds');
    story.restart(home!, (node) => {
      node.kill();
      story.get(first!, atOnce);
    });
    story.agree();
    // By a ring of its own this gateway takes the other node for the home.
    const { version, members } = story.world.ring;
    const alone = members.filter(({ nodeId }) => nodeId === other!.nodeId);
    story.world.gateways[0]!.run!.cluster.ring.advance(new Ring(version + 1, alone));
    equal(story.get(next!, atOnce).received, BLOCK);
    story.settle();
    const stored = story.world.history.admissions.map(({ block }) => block.key);
    deepEqual(stored, [first]);
  });
});

test('a node’s segment: a first read counts, though the last one’s block had been read', () => {
  tell({ node: { maxFetches: 1 } }, (story) => {
    const [one, other] = keys;
    story.put(one!, BLOCK);
    story.put(other!, BLOCK);
    for (const key of [one!, one!, other!, other!]) {
      story.get(key);
      story.settle();
    }
    equal(story.stored, 2);
  });
});

test('a gateway’s read: each has all its attempts, however often objects changed under those before', () => {
  const gateway = { maxReads: 1, maxRestarts: 3, gatewayTtlMs: 60_000 };
  tell({ gateway }, (story) => {
    story.put('a/table', 2 * BLOCK);
    story.get('a/table');
    for (let change = 0; change < 6; change++) {
      const { etag } = story.put('a/table', 2 * BLOCK);
      const answer = story.get('a/table');
      deepEqual([answer.etag, answer.isPassedThrough], [etag, false]);
    }
    equal(story.world.gateways[0]!.run!.gateway.counters.restarts, 6);
  });
});

test('a gateway’s read: previous homes are asked for the next one, though a version that the last one read was gone', () => {
  const gateway = { maxReads: 1, gatewayTtlMs: 60_000, metadataEntries: 1 };
  tell({ cluster: { nodes: 1, spareNodes: 1 }, gateway }, (story) => {
    warm(story);
    story.put('a/table', 2 * BLOCK);
    story.get('a/table');
    story.put('a/table', 2 * BLOCK);
    story.get('a/table');
    equal(story.world.gateways[0]!.run!.gateway.counters.restarts, 1);
    moveWithoutS3(story);
  });
});
