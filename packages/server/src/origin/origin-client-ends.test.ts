import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestTo, startClient } from './testing/client-rig.ts';
import { answer } from './testing/raw-origin.ts';
import { Recorder } from './testing/recorder.ts';

test('gives up on an answer whose first byte never comes', async (t) => {
  const { client, origin } = await startClient(t, () => undefined);
  const recorder = new Recorder();
  client.request(origin, requestTo(origin, { firstByteTimeoutMs: 100 }), recorder);
  await recorder.over;
  assert.equal(recorder.failure?.code, 'timeout');
});

test('gives up on a body that stops moving, but not while the reader is the slow one', async (t) => {
  const { client, origin } = await startClient(
    t,
    ({ socket }) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort'),
    { idleTimeoutMs: 300 },
  );
  const stalled = new Recorder();
  const slow = new Recorder();
  client.request(origin, requestTo(origin), stalled);
  const exchange = client.request(origin, requestTo(origin), slow);
  slow.onEvent = (event): void => {
    if (event === 'head') exchange.pause();
  };
  await stalled.over;
  assert.equal(stalled.failure?.code, 'timeout');
  await sleep(400);
  assert.equal(slow.failureCode, '');
  exchange.resume();
  await slow.over;
  assert.equal(slow.body.toString(), 'short');
  assert.equal(slow.failureCode, 'timeout');
});

test('an aborted request says nothing more and destroys its connection before the body is whole', async (t) => {
  let closed = 0;
  const { raw, client, origin } = await startClient(
    t,
    ({ socket }) => void socket.on('close', () => closed++),
    {},
    true,
  );
  const recorder = new Recorder();
  recorder.onEvent = (event): void => assert.notEqual(event, 'failed');
  const exchange = client.request(
    origin,
    requestTo(origin, { method: 'PUT', bodyLength: 10 }),
    recorder,
  );
  exchange.write(Buffer.from('12345'));
  while (raw.requests[0]?.body.length !== 5) await sleep(5);
  exchange.abort();
  while (closed === 0) await sleep(5);
  await sleep(20);
  assert.equal(raw.requests[0].body.length, 5);
  assert.equal(client.counters.inFlight, 0);
});

test('aborting a request that waits for a connection never sends it', async (t) => {
  const { raw, client, origin } = await startClient(
    t,
    ({ socket }) => {
      setTimeout(() => socket.write(answer('200 OK', [], 'x')), 30);
    },
    { connections: 1 },
  );
  const first = new Recorder();
  client.request(origin, requestTo(origin), first);
  const second = client.request(origin, requestTo(origin, { target: '/b/second' }), new Recorder());
  const third = new Recorder();
  client.request(origin, requestTo(origin), third);
  await sleep(10);
  second.abort();
  await Promise.all([first.over, third.over]);
  assert.equal(third.status, 200);
  assert.equal(
    raw.requests.some(({ head }) => head.includes('second')),
    false,
  );
});

test('a request that is given up in the turn that made it is never sent', async (t) => {
  const { raw, client, origin } = await startClient(t, ({ socket }) => {
    socket.write(answer('200 OK', [], 'x'));
  });
  client.request(origin, requestTo(origin), new Recorder()).abort();
  await sleep(50);
  assert.equal(raw.requests.length, 0);
  assert.equal(client.counters.inFlight, 0);
});

test('an aborted fetch that was held is never sent', async (t) => {
  const { raw, client, origin } = await startClient(t, ({ socket }) => {
    socket.write(answer('503 Slow Down', [], ''));
  });
  const first = new Recorder();
  client.request(origin, requestTo(origin, { retryStatuses: new Set() }), first);
  await first.over;
  const held = client.request(origin, requestTo(origin), new Recorder());
  await sleep(5);
  held.abort();
  await sleep(150);
  assert.equal(raw.requests.length, 1);
  assert.equal(client.counters.inFlight, 0);
});
