/** One object that everybody reads: it is lent to more nodes, and nobody gets to see more of that than better times. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeHost } from '../world/node-host.ts';
import { BLOCK, tell, type Setting, type Story } from './story.ts';

const key = 'a/manifest';
const leaseMs = 2000;
const setting: Setting = {
  cluster: { gateways: 2, nodes: 4 },
  node: { hotThreshold: 20, hotReplicas: 2, leaseMs },
};

/** Clients of both gateways read, one after the other. */
function readMany(story: Story, count: number): void {
  for (let read = 0; read < count; read++) {
    const answer = story.get(key, { bucket: 'builds', gateway: read % 2 });
    deepEqual([answer.end, answer.status], ['finished', 200]);
  }
}

/** They read for a while, at a pace that keeps the object hot. */
function readFor(story: Story, ms: number): void {
  const { queue } = story.world;
  const end = queue.now + ms;
  while (queue.now < end) {
    readMany(story, 1);
    story.wait(20);
  }
}

function makeHot(story: Story): void {
  story.put(key, BLOCK, 'builds');
  readMany(story, 60);
}

function levelsOf({ run }: NodeHost): { granted: number; held: number } {
  const { leasesGranted, leasesHeld } = run!.node.levels();
  return { granted: leasesGranted, held: leasesHeld };
}

function readsOf({ run }: NodeHost): number {
  return run?.node.counters.readsFromDisk ?? 0;
}

test('all gateways spread its reads evenly over its home and those that hold a lease, and S3 is asked once', () => {
  tell(setting, (story) => {
    makeHot(story);
    const { nodes } = story.world;
    const home = story.homeOf(key, 'builds');
    equal(levelsOf(home).granted, 1);
    const holders = nodes.filter((node) => levelsOf(node).held > 0);
    equal(holders.length, 2);
    const before = nodes.map(readsOf);
    readMany(story, 60);
    const since = nodes.map((node, at) => readsOf(node) - before[at]!);
    const shares = [home, ...holders].map((node) => since[nodes.indexOf(node)]!);
    ok(Math.min(...shares) >= 18 && Math.max(...shares) - Math.min(...shares) <= 4, since.join());
    equal(story.fetches(key, 'builds').length, 1);
  });
});

test('it stays lent while it is hot, and not for long afterwards', () => {
  tell(setting, (story) => {
    makeHot(story);
    const home = story.homeOf(key, 'builds');
    readFor(story, 4 * leaseMs);
    ok(home.run!.node.counters.leasesRenewed >= 4);
    equal(home.run!.node.counters.leasesGranted, 1);
    story.wait(2 * leaseMs);
    for (const node of story.world.nodes) deepEqual(levelsOf(node), { granted: 0, held: 0 });
  });
});

test('a write is seen by the next read of its gateway, whichever node that asks', () => {
  tell(setting, (story) => {
    makeHot(story);
    for (let version = 1; version <= 6; version++) {
      story.write(key, story.objectOf(version), { bucket: 'builds' });
      for (let read = 0; read < 4; read++) {
        equal(story.get(key, { bucket: 'builds' }).received, version);
      }
    }
  });
});

test('its home is lost: those that hold a lease go on, and S3 brings no byte of it', () => {
  tell(setting, (story) => {
    makeHot(story);
    readMany(story, 9);
    const home = story.homeOf(key, 'builds');
    story.restart(home, (node) => {
      node.kill();
      // What they hadn't been asked of the object yet costs a question each, and no bytes.
      const asked = story.fetchesDuring(() => {
        readMany(story, 20);
      });
      ok(asked <= 2, `${asked} requests to S3`);
    });
    readFor(story, 2 * leaseMs);
  });
});

test('a holder is lost and comes back: reads go round it, and it holds nothing until it is lent anew', () => {
  tell(setting, (story) => {
    makeHot(story);
    const holder = story.world.nodes.find((node) => levelsOf(node).held > 0)!;
    story.restart(holder, (node) => {
      node.kill();
      readMany(story, 20);
    });
    equal(levelsOf(holder).held, 0);
    readFor(story, 4 * leaseMs);
    equal(story.world.nodes.filter((node) => levelsOf(node).held > 0).length, 2);
  });
});

test('messages among nodes don’t get through: reads find what they need all the same', () => {
  tell(setting, (story) => {
    makeHot(story);
    const home = story.homeOf(key, 'builds');
    const mend = story.fault('the home can’t reach other nodes');
    for (const node of story.world.nodes) {
      if (node !== home) story.world.network.block(home.place, node.place, 2 * leaseMs);
    }
    readFor(story, 2 * leaseMs);
    mend();
    readFor(story, leaseMs);
  });
});

test('a holder that reported and is lost then makes room for another one', () => {
  tell(setting, (story) => {
    makeHot(story);
    readFor(story, 2 * leaseMs);
    const { nodes } = story.world;
    const holder = nodes.find((node) => levelsOf(node).held > 0)!;
    story.restart(holder, (node) => {
      node.kill();
      readFor(story, 4 * leaseMs);
      equal(nodes.filter((each) => each.run !== null && levelsOf(each).held > 0).length, 2);
    });
  });
});

test('a write is told to holders while their leases run out', () => {
  const long = 10_000;
  tell({ ...setting, node: { ...setting.node, leaseMs: long } }, (story) => {
    makeHot(story);
    const home = story.homeOf(key, 'builds');
    const { counters } = home.run!.node;
    // All of them come to know what it is.
    for (let read = 0; read < 6; read++) {
      story.get(key, { bucket: 'builds', gateway: 1, head: true });
      story.wait(150);
    }
    let renewed = -1;
    while (renewed < counters.leasesRenewed) {
      renewed = counters.leasesRenewed;
      story.wait(0.8 * long);
    }
    equal(levelsOf(home).granted, 1, 'it isn’t lent anew, and holders still have it');
    const write = story.write(key, story.objectOf(7), { bucket: 'builds' });
    story.wait(10);
    const { gateway } = story.world.gateways[1]!.run!;
    const spread = gateway.counters.spreadReads;
    for (let read = 0; read < 3; read++) {
      const { etag } = story.get(key, { bucket: 'builds', gateway: 1 });
      equal(etag, write.versions[0]!.etag);
      story.wait(150);
    }
    ok(gateway.counters.spreadReads > spread, 'some of them at a holder');
  });
});

test('where everything is confirmed each time, holders don’t ask the home what it knows', () => {
  tell(setting, (story) => {
    story.put(key, BLOCK, 'fresh');
    for (let read = 0; read < 90; read++) {
      equal(story.get(key, { bucket: 'fresh', gateway: read % 2 }).status, 200);
    }
    const { peerAsks } = story.world.history.of('fresh', key);
    const asked = peerAsks.filter(({ first }) => first < 0).length;
    ok(asked > 0 && asked <= 2, `asked ${asked} times`);
  });
});

test('what its home has confirmed holders take over, and don’t ask S3', () => {
  tell({ ...setting, node: { ...setting.node, leaseMs: 100_000 } }, (story) => {
    makeHot(story);
    const { nodes } = story.world;
    const home = nodes.indexOf(story.homeOf(key, 'builds'));
    /** A question what the object is; returns the node that answered. */
    const ask = (): number => {
      const lookups = (): number[] => nodes.map(({ run }) => run!.node.counters.lookups);
      const before = lookups();
      story.wait(150);
      story.get(key, { bucket: 'builds', head: true });
      return lookups().findIndex((count, at) => count > before[at]!);
    };
    // Until it is the home's turn again.
    while (ask() !== home);
    const rounds = [ask(), ask()];
    ok(!rounds.includes(home));
    story.wait(60_000);
    const asked = story.fetchesDuring(() => {
      equal(ask(), home);
      ask();
      ask();
    });
    equal(asked, 1);
  });
});
