// A storage node dies without a word: reads under load don't notice, the hot set is warm again once it was read twice, and uploads that
// were on their way through it are sent elsewhere or fail so that clients send them again.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownerOf, placeHome } from '@s3-accelerator/core/placement.ts';
import { Ring } from '@s3-accelerator/core/ring.ts';
import { ObjectHash } from '../object-hash.ts';
import { GeneratedLoad } from '../testing/generated-load.ts';
import { agreedRing, NodeCluster, type ClusterProcess } from '../testing/node-cluster.ts';
import type { RawConnection } from '../testing/raw-connection.ts';
import { until } from '../testing/rig.ts';
import type { S3Client } from '../testing/s3-client.ts';
import { version } from '../testing/versions.ts';

const names = [0, 1, 2];

describe('a node that dies', () => {
  let cluster: NodeCluster;
  let gateway: ClusterProcess;
  let client: S3Client;
  let hot: GeneratedLoad;
  const nodes: ClusterProcess[] = [];

  before(async () => {
    // The usual admission: what is read twice is stored.
    cluster = await NodeCluster.begin({ policy: 'immutable = true' });
    nodes.push(...(await Promise.all(names.map((id) => cluster.startNode(id, { names })))));
    ({ gateway, client } = await cluster.startGateway({ names }));
    await agreedRing([...nodes, gateway], 3);
    hot = new GeneratedLoad({
      name: 'hot',
      directory: cluster.directory,
      bucket: 'bucket',
      objects: 100,
      sizes: '[{ bytes = "4KiB" }, { bytes = "64KiB" }, { from = "128KiB", to = "3MiB" }]',
      operations: '{ get = 1 }',
      requestsPerSecond: 150,
      connections: 8,
      verify: 'all',
    });
    await hot.seed(cluster.s3.port);
    await hot.warm(client.port, 2);
    assert.equal(await fetchesOfARound(), 0);
  });
  after(() => cluster.stop());

  /** Reads every object of the hot set once; how many requests that cost at S3. */
  async function fetchesOfARound(): Promise<number> {
    const { traffic } = cluster.s3;
    const requests = traffic.count();
    await hot.warm(client.port, 1);
    return traffic.count() - requests;
  }

  async function bringBack(id: number): Promise<void> {
    nodes[id] = await cluster.startNode(id, { names });
    await agreedRing([...nodes, gateway], 3);
  }

  test('two reads of the hot set make it warm again: who stands in admits', async () => {
    await nodes[1]!.end('SIGKILL');
    assert.ok((await fetchesOfARound()) > 0, 'what it held comes from S3');
    await fetchesOfARound();
    assert.equal(await fetchesOfARound(), 0);
    await bringBack(1);
  });

  test('under load no read fails', async () => {
    hot.start(client.port);
    const gets = (): Promise<number> => gateway.metric('s3accel_gateway_requests_total');
    const further = async (count: number): Promise<void> => {
      const goal = (await gets()) + count;
      await until(`${count} further reads`, async () => (await gets()) >= goal);
    };
    await further(50);
    await nodes[2]!.end('SIGKILL');
    await further(300);
    assert.deepEqual((await hot.stop()).errors, []);
    await bringBack(2);
  });

  const upload = version('upload', 100_000);

  /** The node that requests for a key go through. */
  function homeOf(key: string): number {
    const placement = { hi: 0, lo: 0 };
    placeHome(new ObjectHash().of('bucket', key), placement);
    const members = names.map((nodeId) => ({ nodeId, weight: 1, address: '' }));
    return ownerOf(new Ring(1, members), placement);
  }

  /** Sends the head of an upload and so much of its body, and lets it arrive at its home. */
  async function beginUpload(
    key: string,
    bodyBytes: number,
  ): Promise<{ connection: RawConnection; rest: Buffer }> {
    const bytes = client.bytesOf({ method: 'PUT', target: `/bucket/${key}`, body: upload });
    const sent = bytes.length - upload.length + bodyBytes;
    const connection = await client.connect();
    connection.write(bytes.subarray(0, sent));
    // Nothing tells that a head without a body has arrived there.
    await sleep(500);
    return { connection, rest: bytes.subarray(sent) };
  }

  test('an upload of whose body it has nothing is sent through another node', async () => {
    const home = homeOf('begun');
    const { connection, rest } = await beginUpload('begun', 0);
    await nodes[home]!.end('SIGKILL');
    connection.write(rest);
    const { status, body } = await connection.answer();
    assert.equal(status, 200, body.toString());
    connection.close();
    assert.ok(cluster.s3.get('bucket', 'begun')!.bytes.equals(upload));
    assert.ok((await client.get('bucket', 'begun')).body.equals(upload));
    await bringBack(home);
  });

  test('an upload of whose body it has a part fails with 503, isn’t committed, and succeeds when it is sent again', async () => {
    const home = homeOf('broken');
    const { connection, rest } = await beginUpload('broken', 50_000);
    await nodes[home]!.end('SIGKILL');
    connection.write(rest);
    const { status, body } = await connection.answer();
    assert.equal(status, 503);
    assert.match(body.toString(), /<Code>ServiceUnavailable<\/Code>/);
    connection.close();
    assert.equal(cluster.s3.get('bucket', 'broken'), null);
    assert.equal((await client.put('bucket', 'broken', upload)).status, 200);
    assert.ok((await client.get('bucket', 'broken')).body.equals(upload));
    await bringBack(home);
  });
});
