import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { text as textOf } from 'node:stream/consumers';
import { FaultLog, createLog } from '../log.ts';
import { Metrics } from '../metrics/metrics.ts';
import { adminLimits, startAdmin } from './admin-server.ts';

let reason: string | null = 'the store is being read';
const metrics = new Metrics('1.2.3');
const admin = await startAdmin({
  listen: { host: '127.0.0.1', port: 0 },
  metrics,
  notReady: () => reason,
  version: '1.2.3',
  faults: new FaultLog(createLog('silent')),
});
const base = `http://127.0.0.1:${admin.address.port}`;
after(() => admin.close());

async function get(path: string, method = 'GET'): Promise<{ answer: Response; body: string }> {
  const answer = await fetch(base + path, { method });
  return { answer, body: await answer.text() };
}

test('/healthz answers while the process lives', async () => {
  const { answer, body } = await get('/healthz');
  assert.deepEqual([answer.status, body], [200, 'ok\n']);
});

test('/readyz says why it is not ready, until it is', async () => {
  const before = await get('/readyz');
  assert.deepEqual(
    [before.answer.status, before.body],
    [503, 'not ready: the store is being read\n'],
  );
  reason = null;
  const later = await get('/readyz?verbose=1');
  assert.deepEqual([later.answer.status, later.body], [200, 'ready\n']);
});

test('/metrics is Prometheus text', async () => {
  const { answer, body } = await get('/metrics');
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  assert.match(body, /^# TYPE s3accel_node_block_reads_total counter$/m);
});

test('a metric that fails is a 500, and the next scrape works', async () => {
  let broken = true;
  metrics.readFrom('s3accel_node_blocks', () => {
    if (broken) throw new Error('out of order');
    return 5;
  });
  const { answer, body } = await get('/metrics');
  assert.deepEqual([answer.status, body], [500, 'failed; the log says why\n']);
  broken = false;
  assert.match((await get('/metrics')).body, /^s3accel_node_blocks 5$/m);
});

test('/ lists what there is', async () => {
  const { answer, body } = await get('/');
  assert.equal(answer.status, 200);
  assert.match(body, /^s3-accelerator 1\.2\.3\n/);
  for (const path of ['/metrics', '/healthz', '/readyz']) assert.ok(body.includes(path), path);
});

test('anything else is a 404', async () => {
  assert.equal((await get('/metrics/')).answer.status, 404);
  assert.equal((await get('/../etc/passwd')).answer.status, 404);
});

test('HEAD answers without a body, other methods not at all', async () => {
  const head = await get('/healthz', 'HEAD');
  assert.deepEqual([head.answer.status, head.body], [200, '']);
  assert.equal(head.answer.headers.get('content-length'), '3');
  const post = await get('/healthz', 'POST');
  assert.equal(post.answer.status, 405);
  assert.equal(post.answer.headers.get('allow'), 'GET, HEAD');
});

test('a head that is too long is refused', async () => {
  const socket = connect(admin.address.port, '127.0.0.1');
  socket.end(`GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(adminLimits.maxHeadBytes)}\r\n\r\n`);
  assert.match(await textOf(socket), /^HTTP\/1\.1 431 /);
});

test('connections past the limit are closed', async () => {
  const sockets = Array.from({ length: adminLimits.maxConnections + 40 }, () =>
    connect(admin.address.port, '127.0.0.1').on('error', () => undefined),
  );
  const closed = await new Promise<number>((resolve) => {
    let count = 0;
    for (const socket of sockets) {
      socket.on('close', () => {
        count += 1;
        if (count === 30) resolve(count);
      });
    }
  });
  assert.equal(closed, 30);
  for (const socket of sockets) socket.destroy();
});

test('a port in use fails the start', async () => {
  await assert.rejects(
    startAdmin({
      listen: admin.address,
      metrics,
      notReady: () => null,
      version: '1.2.3',
      faults: new FaultLog(createLog('silent')),
    }),
    { code: 'EADDRINUSE' },
  );
});
