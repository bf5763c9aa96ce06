// A gateway that reaches a node whose answers don't reach it, in a network that the test cuts: reads go on, round that node, and come
// back to it once its answers do.
import { after, before, test } from 'node:test';
import { NetworkCluster } from '../testing/network-cluster.ts';
import { agreedRing } from '../testing/node-cluster.ts';
import { testsInOwnNetwork } from '../testing/own-network.ts';
import { until } from '../testing/rig.ts';

testsInOwnNetwork(import.meta.filename, () => {
  let cluster: NetworkCluster;
  before(async () => {
    cluster = await NetworkCluster.start(2);
  });
  after(() => cluster.stop());

  test('reads under way and new ones leave a node whose answers are lost, and come back to it', async () => {
    const { gateway, gatewayHost, nodes } = cluster;
    await cluster.readsThrough(async (load) => {
      cluster.cut(1, gatewayHost);
      const isNoticed = (): boolean => gateway.lines('stopped answering').length > 0;
      await until('it is noticed', isNoticed);
      await cluster.furtherReads(load, 100);
      const before = await cluster.blockReads(1);
      cluster.mend(1, gatewayHost);
      await until('it is read from again', async () => (await cluster.blockReads(1)) > before);
    });
    await agreedRing([...nodes, gateway], 2);
  });
});
