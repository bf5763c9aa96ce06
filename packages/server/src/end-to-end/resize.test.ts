// A cluster that grows and shrinks, as processes: what it holds stays warm, since new owners ask previous ones before S3.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { agreedRing, NodeCluster, type ClusterProcess } from '../testing/node-cluster.ts';
import type { S3Client } from '../testing/s3-client.ts';
import { version } from '../testing/versions.ts';

const mib = 1 << 20;
const sizes = [300, 40_000, 300_000, mib, 2 * mib + 17, 3 * mib];

describe('a cluster that changes its size', () => {
  let cluster: NodeCluster;
  let gateway: ClusterProcess;
  let client: S3Client;
  const nodes: ClusterProcess[] = [];
  const objects = new Map<string, Buffer>();

  const sum = async (name: string, label = ''): Promise<number> => {
    const values = await Promise.all(nodes.map((node) => node.metric(name, label)));
    return values.reduce((total, value) => total + value, 0);
  };

  /** Reads everything: its bytes are right. How many requests that cost at S3. */
  async function readAll(): Promise<number> {
    const { traffic } = cluster.s3;
    const requests = traffic.count();
    for (const [key, bytes] of objects) {
      const { status, body } = await client.get('bucket', key);
      assert.equal(status, 200);
      assert.ok(body.equals(bytes), `${key} is what was stored`);
    }
    return traffic.count() - requests;
  }

  /** Reads everything, none of it from S3. A machine that is too busy for a previous owner to answer in time is excused. */
  async function assertWarm(): Promise<void> {
    const late = await sum('s3accel_node_handovers_total', 'timed_out');
    const requests = await readAll();
    const isExcused = (await sum('s3accel_node_handovers_total', 'timed_out')) > late;
    if (!isExcused) assert.equal(requests, 0);
    assert.equal(await readAll(), 0, 'what was read is stored where it is asked for');
  }

  before(async () => {
    cluster = await NodeCluster.begin();
    for (let at = 0; at < 36; at++) {
      const key = `object-${at}`;
      const bytes = version(key, at === 0 ? 36 * mib : sizes[at % sizes.length]!);
      objects.set(key, bytes);
      cluster.s3.put('bucket', key, bytes);
    }
    nodes.push(await cluster.startNode(0, { names: [0] }));
    nodes.push(
      ...(await Promise.all([1, 2].map((id) => cluster.startNode(id, { names: [0, id] })))),
    );
    ({ gateway, client } = await cluster.startGateway({ names: [0] }));
    await agreedRing([...nodes, gateway], 3);
    await readAll();
    assert.equal(await readAll(), 0);
  });
  after(() => cluster.stop());

  test('from three nodes to six, one after the other: nothing is read from S3 again', async () => {
    for (const id of [3, 4, 5]) {
      nodes.push(await cluster.startNode(id, { names: [0, id] }));
      await agreedRing([...nodes, gateway], id + 1);
      await assertWarm();
    }
    const moved = await sum('s3accel_node_handovers_total', 'block_taken_over');
    assert.ok(moved > 20, `${moved} blocks moved`);
  });

  test('a node that leaves hands over what it holds', async () => {
    const [leaving] = nodes.splice(0, 1);
    leaving!.running.child.kill('SIGUSR1');
    await agreedRing([...nodes, gateway], 5);
    await assertWarm();
    assert.ok((await leaving!.metric('s3accel_node_handovers_total', 'handed_over')) > 0);
  });

  test('a node that left and died costs fetches from S3, and no answer', async () => {
    const [leaving] = nodes.splice(0, 1);
    leaving!.running.child.kill('SIGUSR1');
    await agreedRing([...nodes, gateway], 4);
    await leaving!.end('SIGKILL');
    assert.ok((await readAll()) > 0, 'what only it held comes from S3');
    assert.equal(await readAll(), 0);
  });
});
