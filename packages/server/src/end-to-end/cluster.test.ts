// Storage nodes that find each other by gossip and gateways that follow their ring, as processes: coming, going, and being killed.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { freePort } from '../testing/programs.ts';
import { agreedRing, NodeCluster, type ClusterProcess } from '../testing/node-cluster.ts';
import { until } from '../testing/rig.ts';
import type { S3Client } from '../testing/s3-client.ts';
import { SteadyLoad } from '../testing/steady-load.ts';
import { version } from '../testing/versions.ts';

const kib = 1 << 10;
const sizes = [1, 4 * kib, 40 * kib, 300 * kib, 1 << 20, (2 << 20) + 17];

describe('the life of a cluster', () => {
  let cluster: NodeCluster;
  let gateway: ClusterProcess;
  let client: S3Client;
  const nodes: ClusterProcess[] = [];
  const objects = new Map<string, Buffer>();
  let threeNodes = 0;

  const loaded = (): SteadyLoad =>
    new SteadyLoad({ client, bucket: 'bucket', objects, atATime: 4 });
  const loadedWithWrites = (): SteadyLoad =>
    new SteadyLoad({ client, bucket: 'bucket', objects, atATime: 4, readsAWrite: 4 });

  /** Ends a load that has seen enough and asserts that nothing failed. */
  async function assertUnharmed(load: SteadyLoad, reads: number): Promise<void> {
    const goal = load.reads + reads;
    await until('further reads', () => load.reads >= goal || load.failures.length > 0);
    await load.stop();
    assert.deepEqual(load.failures, []);
  }

  before(async () => {
    cluster = await NodeCluster.begin({ fallbackWindowS: 3 });
    for (let at = 0; at < 24; at++) {
      const key = `object-${at}`;
      const bytes = version(key, sizes[at % sizes.length]!);
      objects.set(key, bytes);
      cluster.s3.put('bucket', key, bytes);
    }
  });
  after(() => cluster.stop());

  test('nodes that name the first one join it, and a gateway that names one finds all', async () => {
    nodes.push(await cluster.startNode(0, { names: [0] }));
    nodes.push(
      ...(await Promise.all([1, 2].map((id) => cluster.startNode(id, { names: [0, id] })))),
    );
    ({ gateway, client } = await cluster.startGateway({ names: [1] }));
    threeNodes = await agreedRing([...nodes, gateway], 3);
    const load = loaded();
    await assertUnharmed(load, 2 * objects.size);
    for (const [id, node] of nodes.entries()) {
      assert.ok((await node.metric('s3accel_node_block_reads_total')) > 0, `node ${id} has served`);
    }
  });

  test('a node is killed under load: no request fails', async () => {
    const load = loaded();
    await until('the load is under way', () => load.reads > 20);
    await nodes[1]!.end('SIGKILL');
    await assertUnharmed(load, 100);
    const lists = await client.call({ method: 'GET', target: '/bucket?list-type=2' });
    assert.equal(lists.status, 200);
    const bytes = version('written', 50_000);
    for (let at = 0; at < 6; at++) {
      assert.equal((await client.put('bucket', `written-${at}`, bytes)).status, 200);
      assert.ok((await client.get('bucket', `written-${at}`)).body.equals(bytes));
    }
  });

  test('back within the grace it has its place, and the ring is the same', async () => {
    nodes[1] = await cluster.startNode(1, { names: [0, 1] });
    assert.equal(await agreedRing([...nodes, gateway], 3), threeNodes);
    const load = loaded();
    await until('it serves again', async () => {
      return (await nodes[1]!.metric('s3accel_node_block_reads_total')) > 0;
    });
    await assertUnharmed(load, 20);
  });

  test('a node is restarted under load: no request fails, and the ring is the same', async () => {
    const load = loadedWithWrites();
    await until('the load is under way', () => load.reads > 20);
    assert.equal(await nodes[2]!.end('SIGTERM'), 0, nodes[2]!.log());
    nodes[2] = await cluster.startNode(2, { names: [0, 2] });
    await assertUnharmed(load, 40);
    assert.equal(await agreedRing([...nodes, gateway], 3), threeNodes);
  });

  test('a node is added under load: the gateway follows the new ring', async () => {
    const load = loadedWithWrites();
    await until('the load is under way', () => load.reads > 20);
    nodes.push(await cluster.startNode(3, { names: [2] }));
    const fourNodes = await agreedRing([...nodes, gateway], 4);
    assert.ok(fourNodes > threeNodes);
    await until('the new node serves', async () => {
      return (await nodes[3]!.metric('s3accel_node_block_reads_total')) > 0;
    });
    await assertUnharmed(load, 40);
  });

  test('a node leaves under load: the gateway follows, and the node ends by itself', async () => {
    const { version: before } = await gateway.ring();
    const load = loadedWithWrites();
    await until('the load is under way', () => load.reads > 20);
    const [leaving] = nodes.splice(0, 1);
    leaving!.running.child.kill('SIGUSR1');
    const threeAgain = await agreedRing([...nodes, gateway], 3);
    assert.ok(threeAgain > before);
    assert.equal(await leaving!.ended(), 0, leaving!.log());
    await assertUnharmed(load, 40);
    await until('it is gone for all', async () => {
      const down = await Promise.all(
        nodes.map((node) => node.metric('s3accel_cluster_nodes_alive')),
      );
      return down.every((alive) => alive === 3);
    });
  });

  test('a node with the id of another ends, and both say why in one line', async () => {
    const at = `127.0.0.1:${await freePort()}`;
    const rival = await cluster.startNode(2, { names: [1], at, isAwaited: false });
    assert.equal(await rival.ended(), 1, rival.log());
    assert.equal(rival.lines('node id 2 belongs to a node that runs already').length, 1);
    const claimed = nodes.flatMap((node) => node.lines('another process claims node id 2'));
    assert.equal(claimed.length, 1, claimed.join('\n'));
    await assertUnharmed(loaded(), 20);
  });

  test('a node that is given another’s address gives way, and both say so in one line', async () => {
    const at = `127.0.0.1:${await freePort()}`;
    cluster.place(8, Number((await cluster.addressOf(2)).split(':')[1]));
    const rival = await cluster.startNode(8, { names: [1, 8], at, isAwaited: false });
    assert.equal(await rival.ended(), 1, rival.log());
    assert.match(rival.log(), /address [0-9.:]+ belongs to a node that runs already/);
    const claimed = nodes.flatMap((node) => node.lines('another process claims address'));
    assert.equal(claimed.length, 1, claimed.join('\n'));
    await assertUnharmed(loaded(), 20);
  });

  test('a node on the port of another is refused before it does anything', async () => {
    await assert.rejects(
      cluster.startNode(9, { names: [1], at: await cluster.addressOf(2) }),
      /node\.listen = "[0-9.:]+": another process listens there/,
    );
  });
});
