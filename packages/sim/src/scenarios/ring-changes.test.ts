/** Nodes that come, go and don't hear each other while clients read and write. */
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientAnswer } from '../history/client-answer.ts';
import type { NodeHost } from '../world/node-host.ts';
import { BLOCK, tell, type Story } from './story.ts';

const keys = Array.from({ length: 12 }, (_, at) => `a/part-${at}`);
const immutable = { bucket: 'models' };

/** Objects that never change are stored, read twice and on disk. */
function warm(story: Story): void {
  for (const key of keys) story.put(key, 2 * BLOCK, 'models');
  for (let read = 0; read < 2; read++) readAll(story);
  story.settle();
}

function readAll(story: Story): void {
  for (const answer of story.getAll(keys, immutable)) {
    deepEqual([answer.status, answer.received], [200, 2 * BLOCK]);
  }
}

/** Reads and writes go on until it is so; all of them must succeed. */
function workUntil(story: Story, isSo: () => boolean): void {
  const answers: ClientAnswer[] = [];
  for (let round = 0; !isSo(); round++) {
    const write = story.sendWrite(`b/log-${round % 3}`, story.objectOf(BLOCK));
    for (const key of keys) answers.push(story.send(key, immutable).answer);
    story.until(() => write.outcome !== 'open');
    equal(write.outcome, 'done');
    equal(story.get(`b/log-${round % 3}`).etag, write.versions[0]!.etag);
  }
  story.until(() => answers.every(({ end }) => end !== 'open'));
  for (const { end, received } of answers) deepEqual([end, received], ['finished', 2 * BLOCK]);
}

const isMember = ({ run }: NodeHost): boolean => run?.cluster.isMember === true;

test('a rolling restart of three nodes costs no request and no ring', () => {
  tell({ cluster: { nodes: 3 } }, (story) => {
    warm(story);
    const { version } = story.world.ring;
    for (const node of story.world.nodes) {
      node.stop();
      workUntil(story, () => node.run === null);
      node.start();
      workUntil(story, () => isMember(node));
      workUntil(story, () => story.world.isSettled);
      equal(
        story.fetchesDuring(() => {
          readAll(story);
        }),
        0,
        'it is as warm as before',
      );
    }
    equal(story.world.ring.version, version, 'each came back within the grace');
    for (const key of keys) {
      // While a node is away, who stands in for it streams what is read first, and has it from the second read on.
      const again = story.fetches(key, 'models').length - 2;
      ok(again <= 2 * 2, `${key} was asked for ${again} times more`);
    }
  });
});

test('a node that flaps keeps its place and its blocks', () => {
  tell({ cluster: { nodes: 3 } }, (story) => {
    warm(story);
    const { version } = story.world.ring;
    const node = story.homeOf(keys[0]!, 'models');
    for (let flaps = 0; flaps < 5; flaps++) {
      story.restart(node, (host) => {
        host.kill();
      });
    }
    story.agree();
    equal(story.world.ring.version, version);
    story.wait(60_000);
    equal(
      story.fetchesDuring(() => {
        readAll(story);
      }),
      0,
    );
  });
});

test('a node that is lost for good leaves the ring after the grace, and comes back as one that joins', () => {
  tell({ cluster: { nodes: 3, graceMs: 5000 } }, (story) => {
    warm(story);
    const node = story.homeOf(keys[0]!, 'models');
    const mend = story.fault('a node is lost');
    node.kill();
    workUntil(story, () => story.world.ring.members.length === 2);
    story.agree();
    mend();
    readAll(story);
    story.settle();
    readAll(story);
    story.add(node);
    equal(story.world.ring.members.length, 3);
    equal(
      story.fetchesDuring(() => {
        readAll(story);
      }),
      0,
      'its own blocks are still there, and others took the rest over',
    );
  });
});

for (const isOneWay of [false, true]) {
  const how = isOneWay ? 'that nobody hears, and that hears everybody,' : 'that nobody hears';
  test(`a node ${how} loses its place and takes it again; clients notice nothing`, () => {
    tell({ cluster: { nodes: 4, graceMs: 3000 } }, (story) => {
      warm(story);
      const { nodes, network } = story.world;
      const node = story.homeOf(keys[0]!, 'models');
      const mend = story.fault('a node is parted from the others');
      for (const other of nodes) {
        if (other === node) continue;
        network.block(node.place, other.place, 60_000);
        if (!isOneWay) network.block(other.place, node.place, 60_000);
      }
      story.until(() => story.world.ring.member(node.nodeId) === null);
      workUntil(
        story,
        () => story.world.gateways[0]!.run!.cluster.ring.version === story.world.ring.version,
      );
      readAll(story);
      network.heal();
      story.agree();
      mend();
      equal(story.world.ring.members.length, 4);
      readAll(story);
    });
  });
}

test('a gateway that hears of no ring follows the one that answers show', () => {
  tell({ cluster: { nodes: 3, spareNodes: 1 } }, (story) => {
    warm(story);
    const { nodes, network, gateways } = story.world;
    const [gateway] = gateways;
    // Nobody tells it: what nodes send arrives late, and everything arrives at once in the end.
    for (const { place } of nodes) network.slow(place, 400);
    nodes[3]!.start();
    story.until(() => nodes[0]!.run!.cluster.ring.current.members.length === 4);
    equal(gateway!.run!.cluster.ring.current.members.length, 3);
    readAll(story);
    for (const { place } of nodes) network.slow(place, 0);
    story.agree();
    equal(gateway!.run!.cluster.ring.current.members.length, 4);
    readAll(story);
  });
});

test('a gateway whose nodes are all gone asks those of its configuration', () => {
  tell({ cluster: { nodes: 1, spareNodes: 1 }, node: { fallbackWindowMs: 5000 } }, (story) => {
    const [named, added] = story.world.nodes;
    story.put('a/table', BLOCK);
    story.add(added!);
    story.leave(named!);
    story.until(() => named!.run === null);
    equal(story.get('a/table').status, 200);
    const mend = story.fault('the only node is lost');
    added!.kill();
    // It begins a cluster anew, which knows of none before: the gateway's ring is newer.
    named!.start();
    story.until(() => named!.run!.cluster.isMember);
    equal(story.world.gateways[0]!.run!.cluster.ring.current.member(named!.nodeId), null);
    story.agree();
    mend();
    equal(story.get('a/table').status, 200);
  });
});

/** A key whose home is the node that is about to be added. */
function keyThatMoves(story: Story, added: NodeHost): string {
  const candidates = Array.from({ length: 200 }, (_, at) => `a/table-${at}`);
  const before = new Map(candidates.map((key) => [key, story.homeOf(key)]));
  story.add(added);
  const key = candidates.find((each) => story.homeOf(each) === added);
  ok(key !== undefined && before.get(key) !== added);
  added.leave(0);
  story.until(() => added.run === null);
  story.agree();
  return key;
}

test('a write whose object gets another home meanwhile is seen by the next read', () => {
  const setting = { cluster: { nodes: 2, spareNodes: 1 }, delays: { originMs: 2000 } };
  tell(setting, (story) => {
    const added = story.world.nodes[2]!;
    const key = keyThatMoves(story, added);
    const older = story.put(key, BLOCK);
    for (let read = 0; read < 3; read++) equal(story.get(key).etag, older.etag);
    const old = story.homeOf(key);
    const write = story.sendWrite(key, story.objectOf(2 * BLOCK));
    story.until(() => old.run!.passes.size > 0);
    story.add(added);
    equal(write.outcome, 'open');
    equal(story.homeOf(key), added);
    // The new home learns from the old one what was before the write.
    equal(story.get(key, { gateway: 0 }).status, 200);
    story.until(() => write.outcome !== 'open');
    equal(write.outcome, 'done');
    notEqual(write.versions[0]!.etag, older.etag);
    equal(story.get(key).etag, write.versions[0]!.etag);
    equal(story.world.situations.counts.get('home change during a write'), 1);
  });
});

test('what an old home remembers of before a write never comes back by a handover', () => {
  const setting = { cluster: { nodes: 2, gateways: 2, spareNodes: 1 } };
  tell(setting, (story) => {
    const added = story.world.nodes[2]!;
    const key = keyThatMoves(story, added);
    const older = story.put(key, BLOCK);
    for (let read = 0; read < 3; read++) equal(story.get(key).etag, older.etag);
    story.settle();
    story.add(added);
    // Through the new home: the old one isn't told, and still knows the older version.
    const write = story.write(key, story.objectOf(2 * BLOCK));
    equal(story.get(key).etag, write.versions[0]!.etag);
    equal(story.get(key).received, 2 * BLOCK);
  });
});
