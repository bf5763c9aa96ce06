// Networks that break between the processes of a cluster, each way by itself, for longer and shorter than a node may be away: reads go on
// meanwhile, and afterwards all place by one ring.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { NetworkCluster } from '../testing/network-cluster.ts';
import { agreedRing } from '../testing/node-cluster.ts';
import { testsInOwnNetwork } from '../testing/own-network.ts';
import { until } from '../testing/rig.ts';

/** Suspicion takes 1 s and 5 s more in a cluster of three: after this long a node that nobody reaches is down. */
const longEnoughMs = 12_000;

testsInOwnNetwork(import.meta.filename, () => {
  let cluster: NetworkCluster;
  let ring: number;
  before(async () => {
    cluster = await NetworkCluster.start(3, { downGraceS: 20 });
    ring = await agreedRing(cluster.all, 3);
  });
  after(() => cluster.stop());

  for (const bothWays of [false, true]) {
    const way = bothWays ? 'both ways' : 'one way';
    test(`two nodes that can't reach each other ${way} stay members: the third answers for them`, async () => {
      await cluster.readsThrough(async () => {
        cluster.cut(0, 1, bothWays);
        await sleep(longEnoughMs);
        await cluster.known([0, 1, 2], 'down', 0);
        await cluster.known([0, 1, 2], 'alive', 3);
        cluster.mend(0, 1, bothWays);
      });
      assert.equal(await agreedRing(cluster.all, 3), ring);
    });
  }

  test('a gateway that is cut off from a node reads round it', async () => {
    const { gatewayHost } = cluster;
    await cluster.readsThrough(async (load) => {
      cluster.cut(gatewayHost, 2, true);
      await sleep(longEnoughMs);
      const before = await cluster.blockReads(2);
      await cluster.furtherReads(load, 100);
      assert.equal(await cluster.blockReads(2), before, 'nothing gets there');
      cluster.mend(gatewayHost, 2, true);
      await until('it is read from again', async () => (await cluster.blockReads(2)) > before);
    });
    assert.equal(await agreedRing(cluster.all, 3), ring);
  });

  test('a node behind a slow link delays its own reads, and belongs to the cluster', async () => {
    await cluster.readsThrough(async (load) => {
      cluster.network.slow(1, 40_000_000);
      await cluster.furtherReads(load, 200);
      cluster.network.quicken(1);
    });
    await cluster.known([0, 1, 2], 'alive', 3);
    assert.equal(await agreedRing(cluster.all, 3), ring);
  });

  const isolate = (isCut: boolean): void => {
    for (const other of [0, 1, cluster.gatewayHost]) {
      if (isCut) cluster.cut(2, other, true);
      else cluster.mend(2, other, true);
    }
  };

  test('a node that is cut off for less than the grace keeps its place', async () => {
    await cluster.readsThrough(async () => {
      isolate(true);
      await cluster.known([0, 1], 'down', 1);
      isolate(false);
      await cluster.known([0, 1, 2], 'alive', 3);
    });
    assert.equal(await agreedRing(cluster.all, 3), ring);
  });

  test('a node that is cut off for longer loses its place, and has it again once it is back', async () => {
    const { nodes, gateway } = cluster;
    await cluster.readsThrough(async () => {
      isolate(true);
      await until(
        'it is out of the ring',
        async () => (await gateway.ring()).members === 2,
        90_000,
      );
      await agreedRing([nodes[0]!, nodes[1]!, gateway], 2);
      assert.equal(
        (await nodes[2]!.ring()).members,
        3,
        'who sees less than half of all waits longer',
      );
      isolate(false);
      await until(
        'it is back in the ring',
        async () => (await gateway.ring()).members === 3,
        60_000,
      );
    });
    assert.ok((await agreedRing(cluster.all, 3)) > ring);
  });
});
