/** What is asked of nodes that owned something before, and what isn't. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { BLOCK, tell, type Setting, type Story } from './story.ts';

const immutable = { bucket: 'models' };
const keys = Array.from({ length: 24 }, (_, at) => `a/part-${at}`);
const setting: Setting = { cluster: { nodes: 1, spareNodes: 1 } };

/** Objects of a block that never change, each read twice and on disk. */
function warm(story: Story): void {
  for (const key of keys) story.put(key, BLOCK, 'models');
  for (const key of [...keys, ...keys]) story.get(key, immutable);
  story.settle();
}

/** A second node joins: what moves to it. */
function move(story: Story, bucket: string): readonly string[] {
  const [, added] = story.world.nodes;
  story.add(added!);
  const moved = keys.filter((key) => story.homeOf(key, bucket) === added);
  ok(moved.length > 4);
  return moved;
}

/** For a moment the new owner doesn't hear the previous one, while clients read. */
function whileSilent(story: Story, act: () => void): void {
  const [old, added] = story.world.nodes;
  const mend = story.fault('the new owner can’t hear the previous one');
  story.world.network.block(old!.place, added!.place, 1000);
  act();
  mend();
}

test('one that was silent is tried by one read once its rest is over, and by all once it has spoken', () => {
  tell(setting, (story) => {
    warm(story);
    const [first, ...others] = move(story, 'models');
    const { peerAsks } = story.world.history;
    whileSilent(story, () => {
      story.get(first!, immutable);
    });
    story.wait(12_000);
    const before = peerAsks.length;
    whileSilent(story, () => {
      story.getAll(others.slice(0, 3), immutable);
    });
    equal(peerAsks.length - before, 1);
    story.wait(12_000);
    const fetches = story.fetchesDuring(() => {
      for (const key of others.slice(3)) story.get(key, immutable);
    });
    equal(fetches, 0);
  });
});

test('a version that turned out to be gone isn’t asked of a previous home, which knows nothing newer', () => {
  tell({ ...setting, gateway: { gatewayTtlMs: 60_000 } }, (story) => {
    for (const key of keys) {
      story.put(key, BLOCK);
      story.get(key);
    }
    const [key] = move(story, 'tables');
    const newer = story.put(key!, BLOCK);
    equal(story.get(key!).etag, newer.etag);
    const asks = story.world.history.of('tables', key!).peerAsks;
    deepEqual(
      asks.map(({ first }) => first),
      [0],
      'the block, and no metadata',
    );
  });
});

test('one whose block turns out to be damaged has nothing, and fetches nothing for others', () => {
  tell(setting, (story) => {
    warm(story);
    const [old, added] = story.world.nodes;
    story.restart(old!, ({ files }) => {
      old!.crash(0);
      for (const offset of files.untrustedOffsets()) files.rot(offset);
    });
    const [key] = move(story, 'models');
    const before = story.fetches(key!, 'models').length;
    equal(story.get(key!, immutable).received, BLOCK);
    equal(old!.run!.node.verification.counters.damaged, 1);
    const since = story.fetches(key!, 'models').slice(before);
    ok(since.length > 0);
    for (const { node } of since) equal(node, added!.nodeId);
  });
});
