import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { certificate, startTlsFront } from '@s3-accelerator/load/testing/tls-front.ts';
import { OriginClient } from './origin-client.ts';
import { hostOf, serverNameOf } from './origin-target.ts';
import { resolveOrigin, type Origin } from './origins.ts';
import { credentials, originAt, requestTo, startClient } from './testing/client-rig.ts';
import { answer } from './testing/raw-origin.ts';
import { Recorder } from './testing/recorder.ts';

test('sends targets byte for byte', async (t) => {
  const { raw, client, origin } = await startClient(t, ({ socket }) => {
    socket.write(answer('200 OK', [], 'x'));
  });
  const targets = [
    '/b//..',
    '/b/a/../k',
    '/b/./.',
    '/b/%2F%2f',
    '/b/a+b',
    "/b/!*'()",
    '/b/\xc3\xa9',
    '/b/k?a=b&&c=%2f+d&e',
    '//',
  ];
  for (const target of targets) {
    const recorder = new Recorder();
    client.request(origin, requestTo(origin, { target }), recorder);
    await recorder.over;
    assert.equal(recorder.status, 200);
  }
  assert.deepEqual(
    raw.requests.map(({ head }) => head.split(' ')[1]),
    targets,
  );
});

test('sends header names, duplicates and bytes above 127 as given, and hands out answers the same way', async (t) => {
  const { raw, client, origin } = await startClient(t, ({ socket }) => {
    const lines = ['X-Amz-Meta-Twice: 1', 'x-AMZ-meta-twice: 2', 'ETag: "\xfc\xff"'];
    socket.write(Buffer.from(answer('206 Partial Content', lines, 'body'), 'latin1'));
  });
  const recorder = new Recorder();
  const headers = ['host', origin.host, 'X-Amz-Meta-One', 'a\xe9', 'x-amz-meta-one', 'two  spaces'];
  client.request(origin, requestTo(origin, { sign: () => headers }), recorder);
  await recorder.over;
  const head = raw.requests[0]!.head;
  assert.ok(head.includes('\r\nX-Amz-Meta-One: a\xe9\r\nx-amz-meta-one: two  spaces'), head);
  assert.equal(recorder.status, 206);
  assert.deepEqual(recorder.headers.slice(0, 6), [
    'X-Amz-Meta-Twice',
    '1',
    'x-AMZ-meta-twice',
    '2',
    'ETag',
    '"\xfc\xff"',
  ]);
  assert.equal(recorder.body.toString(), 'body');
});

test('keeps a connection for the next request, after HEAD as well', async (t) => {
  const { raw, client, origin } = await startClient(t, ({ socket, head }) => {
    socket.write(
      head.startsWith('HEAD')
        ? 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: keep-alive\r\n\r\n'
        : answer('200 OK', [], 'x'),
    );
  });
  for (const method of ['HEAD', 'GET', 'HEAD']) {
    const recorder = new Recorder();
    client.request(origin, requestTo(origin, { method }), recorder);
    await recorder.over;
    // undici takes a connection back one turn of the loop later.
    await sleep(5);
  }
  assert.equal(raw.connections, 1);
});

test('opens no more connections than allowed and lets the rest wait', async (t) => {
  const { raw, client, origin } = await startClient(
    t,
    ({ socket }) => void setTimeout(() => socket.write(answer('200 OK', [], 'x')), 5),
    { connections: 2 },
  );
  const recorders = Array.from({ length: 20 }, () => new Recorder());
  for (const recorder of recorders) client.request(origin, requestTo(origin), recorder);
  await Promise.all(recorders.map(({ over }) => over));
  assert.equal(raw.requests.length, 20);
  assert.equal(raw.connections, 2);
  assert.equal(client.counters.inFlight, 0);
  assert.equal(client.counters.answers.get('GetObject 200'), 20);
});

test('refuses one request more than may wait, as busy', async (t) => {
  const { client, origin } = await startClient(t, () => undefined, { requests: 2 });
  client.request(origin, requestTo(origin), new Recorder());
  client.request(origin, requestTo(origin), new Recorder());
  const third = new Recorder();
  client.request(origin, requestTo(origin), third);
  await third.over;
  assert.equal(third.failure?.code, 'busy');
  assert.equal(client.counters.limitReached, 1);
});

test('reports a body that ends before its promised length as a failure', async (t) => {
  const { client, origin } = await startClient(t, ({ socket }) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort');
  });
  const recorder = new Recorder();
  client.request(origin, requestTo(origin), recorder);
  await recorder.over;
  assert.notEqual(recorder.failure, null);
});

test('reports an origin that refuses connections as unreachable', async (t) => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const client = new OriginClient();
  t.after(() => client.close());
  const origin = originAt(`http://127.0.0.1:${port}`);
  const recorder = new Recorder();
  client.request(origin, requestTo(origin), recorder);
  await recorder.over;
  assert.equal(recorder.failure?.code, 'unreachable');
  assert.match(recorder.failure.hint, /ECONNREFUSED/);
});

test('holds bytes that arrive while paused, also when the origin closes meanwhile', async (t) => {
  const size = 300_000;
  const { client, origin } = await startClient(t, ({ socket }) => {
    socket.end(
      `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n${'z'.repeat(size)}`,
    );
  });
  const recorder = new Recorder();
  const exchange = client.request(origin, requestTo(origin), recorder);
  let paused = false;
  recorder.onEvent = (event): void => {
    assert.equal(paused && event === 'body', false, 'no bytes while paused');
    if (event !== 'body') return;
    paused = true;
    exchange.pause();
    setTimeout(() => {
      paused = false;
      exchange.resume();
    }, 2);
  };
  await recorder.over;
  assert.equal(recorder.failure, null);
  assert.equal(recorder.body.length, size);
});

test('informational answers pass by', async (t) => {
  const { client, origin } = await startClient(t, ({ socket }) => {
    socket.write('HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n');
    socket.write(answer('200 OK', [], 'x'));
  });
  const recorder = new Recorder();
  client.request(origin, requestTo(origin), recorder);
  await recorder.over;
  assert.equal(recorder.status, 200);
});

test('a status that HTTP does not have is a protocol failure', async (t) => {
  for (const status of [600, 999]) {
    const { raw, client, origin } = await startClient(t, ({ socket }) => {
      socket.write(answer(`${status} Odd`, [], 'x'));
    });
    const recorder = new Recorder();
    client.request(origin, requestTo(origin), recorder);
    await recorder.over;
    assert.equal(recorder.failure?.code, 'protocol');
    assert.equal(raw.requests.length, 1);
    assert.equal(client.counters.inFlight, 0);
  }
});

test('an answer that is not HTTP is a protocol failure and is not repeated', async (t) => {
  const { raw, client, origin } = await startClient(t, ({ socket }) => {
    socket.write('SSH-2.0-OpenSSH\r\n\r\n');
  });
  const recorder = new Recorder();
  client.request(origin, requestTo(origin), recorder);
  await recorder.over;
  assert.equal(recorder.failure?.code, 'protocol');
  assert.equal(raw.requests.length, 1);
});

test('an https origin is trusted by the authorities that it was given, and by no others', async (t) => {
  const { raw, client } = await startClient(t, ({ socket }) => {
    socket.write(answer('200 OK', [], 'x'));
  });
  const front = await startTlsFront(Number(new URL(raw.endpoint).port));
  t.after(() => front.server.close());
  const endpoint = `https://localhost:${front.port}`;
  const settings = { endpoint, region: 'us-east-1', credentials, addressing: 'virtual' } as const;
  const ask = async (origin: Origin): Promise<Recorder> => {
    const recorder = new Recorder();
    const names = serverNameOf(origin, 'bucket');
    const headers = ['host', hostOf(origin, 'bucket')];
    client.request(origin, requestTo(origin, { sign: () => headers, ...names }), recorder);
    await recorder.over;
    return recorder;
  };
  const stranger = await ask(resolveOrigin(settings));
  assert.equal(stranger.failureCode, 'protocol');
  // The certificate is the endpoint's, whatever bucket the Host header names.
  const known = await ask(resolveOrigin({ ...settings, ca: certificate }));
  assert.equal(known.status, 200, known.failure?.hint);
  assert.match(raw.requests[0]?.head ?? '', /host: bucket\.localhost:/);
  assert.equal((await ask(resolveOrigin(settings))).failureCode, 'protocol');
});
