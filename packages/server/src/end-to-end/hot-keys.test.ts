// Hot keys between processes: what everybody reads is lent, spread evenly, brought to each node once, and taken back.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { agreedRing, NodeCluster, type ClusterProcess } from '../testing/node-cluster.ts';
import { until } from '../testing/rig.ts';
import type { S3Client } from '../testing/s3-client.ts';
import { version } from '../testing/versions.ts';

const kib = 1024;
const mib = 1024 * kib;

describe('an object that everybody reads', () => {
  let cluster: NodeCluster;
  let gateway: ClusterProcess;
  let client: S3Client;
  let nodes: ClusterProcess[];
  const bytes = version('small', 4 * kib);
  const largeBytes = version('large', 2 * mib + 17);

  const each = (name: string, label = ''): Promise<number[]> =>
    Promise.all(nodes.map((node) => node.metric(name, label)));
  const sum = async (name: string, label = ''): Promise<number> =>
    (await each(name, label)).reduce((total, value) => total + value, 0);
  const blockReads = (): Promise<number[]> => each('s3accel_node_block_reads_total');

  async function readMany(count: number, key: string, expected: Buffer): Promise<void> {
    for (let read = 0; read < count; read++) {
      const { status, body } = await client.get('bucket', key);
      assert.equal(status, 200);
      assert.ok(body.equals(expected), `${key} is what was stored`);
    }
  }

  /** Reads until its home has lent it to both of the others, and all of them have it. */
  async function makeHot(key: string, expected: Buffer): Promise<void> {
    await until(`${key} is lent`, async () => {
      await readMany(60, key, expected);
      return (await sum('s3accel_node_leases_held')) === 2;
    });
    await until(`reads of ${key} are spread`, async () => {
      const before = await gateway.metric('s3accel_gateway_spread_reads_total');
      await readMany(9, key, expected);
      return (await gateway.metric('s3accel_gateway_spread_reads_total')) - before >= 6;
    });
  }

  before(async () => {
    cluster = await NodeCluster.begin({
      policy: 'ttl_ms = 600000\nadmit_on_first_read = true',
      cache: 'hot_threshold = 20\nhot_replicas = 2\nlease_ms = 4000',
    });
    cluster.s3.put('bucket', 'small', bytes);
    cluster.s3.put('bucket', 'large', largeBytes);
    nodes = [await cluster.startNode(0, { names: [0] })];
    nodes.push(
      ...(await Promise.all([1, 2].map((id) => cluster.startNode(id, { names: [0, id] })))),
    );
    ({ gateway, client } = await cluster.startGateway({ names: [0] }));
    await agreedRing([...nodes, gateway], 3);
  });
  after(() => cluster.stop());

  test('is read from all nodes alike, and fetched once', async () => {
    await makeHot('small', bytes);
    const requests = cluster.s3.traffic.count();
    const before = await blockReads();
    await readMany(90, 'small', bytes);
    const shares = (await blockReads()).map((reads, at) => reads - before[at]!);
    const all = shares.reduce((total, share) => total + share, 0);
    for (const share of shares) assert.ok(share < 0.45 * all, `${shares.join(', ')} of ${all}`);
    assert.equal(cluster.s3.traffic.count(), requests, 'S3 isn’t asked again');
    const taken = await each('s3accel_node_handovers_total', 'block_taken_over');
    assert.deepEqual(taken.toSorted(), [0, 1, 1], 'each holder got it from its home, once');
  });

  test('is new to every reader once a write of it was answered', async () => {
    await makeHot('small', bytes);
    for (const round of [1, 2, 3]) {
      const next = version(`small ${round}`, 4 * kib);
      assert.equal((await client.put('bucket', 'small', next)).status, 200);
      await readMany(9, 'small', next);
    }
    assert.ok((await sum('s3accel_node_writes_heard_of_total')) >= 2, 'holders are told');
    assert.equal((await client.put('bucket', 'small', bytes)).status, 200);
  });

  test('is lent no longer when nobody reads it', async () => {
    await until('all leases are over', async () => {
      const held = await sum('s3accel_node_leases_held');
      return held + (await sum('s3accel_node_leases_granted')) === 0;
    });
    const spread = await gateway.metric('s3accel_gateway_spread_reads_total');
    await readMany(6, 'small', bytes);
    assert.equal(await gateway.metric('s3accel_gateway_spread_reads_total'), spread);
  });

  test('and is large comes by exclusive links from all nodes, too', async () => {
    await makeHot('large', largeBytes);
    const before = await blockReads();
    const requests = cluster.s3.traffic.count();
    await readMany(30, 'large', largeBytes);
    const shares = (await blockReads()).map((reads, at) => reads - before[at]!);
    for (const share of shares) assert.ok(share >= 20, shares.join(', '));
    assert.equal(cluster.s3.traffic.count(), requests);
  });

  test('is served though one of its nodes dies', async () => {
    await makeHot('small', bytes);
    const [lost] = nodes.splice(1, 1);
    await lost!.end('SIGKILL');
    await readMany(60, 'small', bytes);
  });
});
