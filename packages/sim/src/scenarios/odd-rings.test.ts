/** A gateway that places by a ring of its own: other nodes than the owners are asked, and store only what they may. */
import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { Ring } from '@s3-accelerator/core/ring.ts';
import type { NodeHost } from '../world/node-host.ts';
import { BLOCK, tell, type Setting, type Story } from './story.ts';

const bucket = 'builds';
const setting: Setting = {
  cluster: { nodes: 2, gateways: 2 },
  gateway: { gatewayTtlMs: 60_000 },
  delays: { originMs: 50 },
};

/** An object, its home, and the node that the first gateway asks in its place: it takes it for the only one. */
function oddRing(story: Story): { key: string; home: NodeHost; other: NodeHost } {
  const key = 'a/table';
  story.put(key, BLOCK, bucket);
  const home = story.homeOf(key, bucket);
  const other = story.world.nodes.find((node) => node !== home)!;
  const { version, members } = story.world.ring;
  const alone = members.filter(({ nodeId }) => nodeId === other.nodeId);
  story.world.gateways[0]!.run!.cluster.ring.advance(new Ring(version + 1, alone));
  return { key, home, other };
}

test('reads that share a fill of what another node owns don’t make it stored', () => {
  tell(setting, (story) => {
    const { key } = oddRing(story);
    story.get(key, { bucket, head: true });
    story.getAll([key, key, key], { bucket });
    story.settle();
    deepEqual(story.world.history.admissions, []);
  });
});

test('a read for which a node stands in makes a fill stored that another one began', () => {
  tell(setting, (story) => {
    const { key, home, other } = oddRing(story);
    story.restart(home, (node) => {
      node.kill();
      for (const gateway of [0, 1]) story.get(key, { bucket, gateway, head: true });
      const before = story.fetches(key, bucket).length;
      const first = story.send(key, { bucket });
      story.until(() => story.fetches(key, bucket).length > before);
      equal(story.get(key, { bucket, gateway: 1 }).received, BLOCK);
      story.until(() => first.answer.end !== 'open');
      equal(story.fetches(key, bucket).length, before + 1, 'they shared it');
      story.settle();
      equal(other.run!.store.counters.blocks, 1);
    });
    // Nodes that see the odd ring outbid it.
    story.get(key, { bucket });
    story.agree();
  });
});
