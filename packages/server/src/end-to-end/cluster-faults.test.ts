// What a cluster makes of processes that hold another secret, of nodes that never answer and of nodes that answer nonsense.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { agreedRing, NodeCluster } from '../testing/node-cluster.ts';
import { credentials, freePort } from '../testing/programs.ts';
import { until } from '../testing/rig.ts';
import { S3Client } from '../testing/s3-client.ts';
import { version } from '../testing/versions.ts';

const kib = 1 << 10;
const sizes = [100, 20 * kib, 200 * kib, (1 << 20) + 5];

async function begin(context: TestContext): Promise<NodeCluster> {
  const cluster = await NodeCluster.begin();
  context.after(() => cluster.stop());
  return cluster;
}

/** Something that listens at a node's address and is no node. */
async function impostor(
  context: TestContext,
  onConnection: (socket: Socket) => void,
): Promise<{ readonly port: number; readonly connections: () => number }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => sockets.size };
}

const impostors: readonly { readonly what: string; readonly act: (socket: Socket) => void }[] = [
  { what: 'accepts and never answers', act: (socket) => socket.resume() },
  { what: 'answers nonsense', act: (socket) => socket.write(Buffer.alloc(4096, 0xa5)) },
];

for (const { what, act } of impostors) {
  test(`a member that ${what} costs time, never an answer`, async (context) => {
    const cluster = await begin(context);
    const { port, connections } = await impostor(context, act);
    cluster.place(1, port);
    // Node 0 begins a cluster of the list, so the impostor has a place until the grace is over.
    await cluster.startNode(0, { names: [0, 1] });
    const { gateway, client } = await cluster.startGateway({ names: [1, 0] });
    assert.equal(await gateway.metric('s3accel_ring_members'), 2);

    const keys = Array.from({ length: 16 }, (_, at) => `object-${at}`);
    await Promise.all(
      keys.map(async (key, at) => {
        const bytes = version(key, sizes[at % sizes.length]!);
        const written = await client.put('bucket', key, bytes);
        assert.equal(written.status, 200, written.body.toString());
        for (let read = 0; read < 2; read++) {
          const { status, body } = await client.get('bucket', key);
          assert.equal(status, 200);
          assert.ok(body.equals(bytes), key);
        }
      }),
    );
    assert.ok(connections() > 0, 'it was asked');
    // Every place is taken by the one that answers while the other is suspected.
    const began = performance.now();
    for (const [at, key] of keys.entries()) {
      const { body } = await client.get('bucket', key);
      assert.ok(body.equals(version(key, sizes[at % sizes.length]!)), key);
    }
    assert.ok(performance.now() - began < 4000, 'reads go round it');
  });
}

test('another secret is no way in: one line on both sides, and nobody is served', async (context) => {
  const cluster = await begin(context);
  const node = await cluster.startNode(0, { names: [0] });
  const wrong = 'not the secret of this cluster';
  const { gateway, client } = await cluster.startGateway({
    names: [0],
    secret: wrong,
    isAwaited: false,
  });
  const line = 'the two hold different cluster secrets';
  await until('both say so', () => [gateway, node].every((one) => one.lines(line).length > 0));
  assert.match(await gateway.readiness(), /^not ready: no ring yet: none of 127\.0\.0\.1:\d+ has/);
  cluster.s3.put('bucket', 'key', Buffer.from('for nobody'));
  assert.equal((await client.get('bucket', 'key')).status, 503);
  assert.equal((await client.put('bucket', 'key', 'by nobody')).status, 503);

  const stranger = await cluster.startNode(1, { names: [0, 1], secret: wrong });
  await until('both nodes say so', () => stranger.lines(line).length > 0);
  assert.equal(await node.metric('s3accel_ring_members'), 1);
  for (const one of [gateway, node, stranger]) {
    assert.ok(one.lines(line).length <= 3, 'held back, however often it is tried');
  }
});

test('a gateway waits for its nodes, and for one that comes later', async (context) => {
  const cluster = await begin(context);
  const { gateway, client } = await cluster.startGateway({ names: [0, 1], isAwaited: false });
  await until('it says what it waits for', () => gateway.lines('no ring yet: asking').length > 0);
  cluster.s3.put('bucket', 'key', Buffer.from('bytes'));
  assert.equal((await client.get('bucket', 'key')).status, 503);
  await cluster.startNode(1, { names: [1] });
  await until('it is ready', async () => (await gateway.readiness()) === 'ready\n');
  assert.equal((await client.get('bucket', 'key')).body.toString(), 'bytes');

  gateway.running.child.kill('SIGUSR1');
  await until('it has nothing to leave', () => gateway.lines('no ring to leave').length === 1);
  assert.equal((await client.get('bucket', 'key')).body.toString(), 'bytes');
});

test('processes that are node and gateway serve each other’s keys, and go on alone', async (context) => {
  const cluster = await begin(context);
  const ports = [await freePort(), await freePort()];
  const processes = await Promise.all(
    ports.map((gatewayPort, id) => cluster.startNode(id, { names: [0, 1], gatewayPort })),
  );
  await agreedRing(processes, 2);
  const clients = ports.map((port) => new S3Client(port, credentials));
  const [one, other] = clients as [S3Client, S3Client];
  const objects = sizes.map((size, at) => version(`object-${at}`, size));
  for (let round = 0; round < 3; round++) {
    for (const [at, bytes] of objects.entries()) {
      const key = `object-${round}-${at}`;
      assert.equal((await one.put('bucket', key, bytes)).status, 200);
      for (const client of [other, one, other]) {
        assert.ok((await client.get('bucket', key)).body.equals(bytes), key);
      }
    }
  }
  await processes[1]!.end('SIGKILL');
  for (let round = 0; round < 4; round++) {
    for (const [at, bytes] of objects.entries()) {
      assert.ok((await one.get('bucket', `object-${round % 3}-${at}`)).body.equals(bytes));
      assert.equal((await one.put('bucket', `alone-${round}-${at}`, bytes)).status, 200);
    }
  }
});
