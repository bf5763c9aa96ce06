/** Clusters that grow and shrink: what moves comes from the nodes that had it, and S3 isn't asked again. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { BLOCK, tell, type Setting, type Story } from './story.ts';

const hotKeys = Array.from({ length: 24 }, (_, at) => `a/part-${at}`);
/** Blocks of each of them: more than a home keeps, so that chunks lie elsewhere. */
const blocks = 6;
const roomy: Setting['cluster'] = { storeBytes: 256 * BLOCK };
/** Room for the whole hot set on its way at once. */
const busy: Setting['node'] = { maxReaders: 1024, maxFetches: 256, fillBudgetBlocks: 512 };

/** The hot set is stored at S3, read, and on disk. Its objects never change, so nothing of it has to be confirmed. */
function warm(story: Story): void {
  for (const key of hotKeys) story.put(key, blocks * BLOCK, 'models');
  for (let read = 0; read < 2; read++) readAll(story);
  story.settle();
  equal(
    story.fetchesDuring(() => {
      readAll(story);
    }),
    0,
  );
}

function readAll(story: Story): void {
  for (const answer of story.getAll(hotKeys, { bucket: 'models' })) {
    deepEqual([answer.status, answer.received], [200, blocks * BLOCK]);
  }
}

/** Blocks that nodes took over from others. */
function takenOver(story: Story): number {
  const counts = story.world.nodes.map(({ run }) => run?.node.counters.blocksTakenOver ?? 0);
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The hot set is read while the ring changes, and again: none of it from S3. */
function stayWarm(story: Story, change: () => void): void {
  const fetches = story.fetchesDuring(() => {
    change();
    readAll(story);
    story.settle();
    readAll(story);
  });
  equal(fetches, 0);
  ok(takenOver(story) > 0, 'something moved');
}

test('three nodes become four', () => {
  tell({ cluster: { ...roomy, nodes: 3, spareNodes: 1 }, node: busy }, (story) => {
    warm(story);
    stayWarm(story, () => {
      story.add(story.world.nodes[3]!);
    });
    equal(story.world.ring.members.length, 4);
  });
});

test('three nodes become six one after the other, before anything is read', () => {
  tell({ cluster: { ...roomy, nodes: 3, spareNodes: 3 }, node: busy }, (story) => {
    warm(story);
    stayWarm(story, () => {
      for (const node of story.world.nodes.slice(3)) story.add(node);
    });
    equal(story.world.ring.members.length, 6);
  });
});

test('three nodes become six at once, while they are read', () => {
  tell({ cluster: { ...roomy, nodes: 3, spareNodes: 3 }, node: busy }, (story) => {
    warm(story);
    stayWarm(story, () => {
      for (const node of story.world.nodes.slice(3)) node.start();
      while (!story.world.isSettled) readAll(story);
    });
    equal(story.world.ring.members.length, 6);
  });
});

test('six nodes become three: those that leave hand over what they hold, and end when the window is over', () => {
  const setting = { cluster: { ...roomy, nodes: 6 }, node: { ...busy, fallbackWindowMs: 20_000 } };
  tell(setting, (story) => {
    warm(story);
    const leaving = story.world.nodes.slice(3);
    stayWarm(story, () => {
      for (const node of leaving) {
        story.leave(node);
        readAll(story);
      }
    });
    equal(story.world.ring.members.length, 3);
    story.wait(21_000);
    deepEqual(
      leaving.map(({ run }) => run),
      [null, null, null],
    );
    equal(
      story.fetchesDuring(() => {
        readAll(story);
      }),
      0,
    );
  });
});

test('a node that comes knows who owned what before those that it came beside', () => {
  tell({ cluster: { ...roomy, nodes: 1, spareNodes: 2 }, node: busy }, (story) => {
    warm(story);
    story.add(story.world.nodes[1]!);
    story.add(story.world.nodes[2]!);
    equal(
      story.fetchesDuring(() => {
        readAll(story);
      }),
      0,
    );
    const { counters } = story.world.nodes[2]!.run!.node;
    ok(
      counters.blocksTakenOver > 0,
      'from the first node, which it never shared a ring of two with',
    );
    equal(counters.fetchedBytes, 0);
  });
});

test('once the window is over nobody is asked for what moved long ago', () => {
  const setting = {
    cluster: { ...roomy, nodes: 2, spareNodes: 1 },
    node: { ...busy, fallbackWindowMs: 5000 },
  };
  tell(setting, (story) => {
    warm(story);
    story.add(story.world.nodes[2]!);
    story.wait(6000);
    ok(
      story.fetchesDuring(() => {
        readAll(story);
      }) > 0,
    );
    equal(story.world.history.peerAsks.length, 0);
  });
});
