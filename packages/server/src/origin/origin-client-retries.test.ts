import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestTo, startClient } from './testing/client-rig.ts';
import { answer } from './testing/raw-origin.ts';
import { Recorder } from './testing/recorder.ts';

test('tries a request again when the answer is 503, at most as often as allowed', async (t) => {
  const { raw, client, origin } = await startClient(t, ({ socket, number }) => {
    socket.write(number <= 2 ? answer('503 Slow Down', [], '<Error/>') : answer('200 OK', [], 'x'));
  });
  const recorder = new Recorder();
  client.request(origin, requestTo(origin), recorder);
  await recorder.over;
  assert.equal(recorder.status, 200);
  assert.equal(raw.requests.length, 3);
  assert.equal(client.counters.retries, 2);
});

test('hands on the last error answer once the tries are used up', async (t) => {
  const { raw, client, origin } = await startClient(t, ({ socket }) => {
    socket.write(answer('503 Slow Down', [], '<Error/>'));
  });
  const recorder = new Recorder();
  client.request(origin, requestTo(origin), recorder);
  await recorder.over;
  assert.equal(recorder.status, 503);
  assert.equal(recorder.body.toString(), '<Error/>');
  assert.equal(raw.requests.length, 3);
});

test('tries again after a reset before the head', async (t) => {
  const { client, origin } = await startClient(t, ({ socket, number }) => {
    if (number === 1) socket.resetAndDestroy();
    else socket.write(answer('200 OK', [], 'x'));
  });
  const recorder = new Recorder();
  client.request(origin, requestTo(origin), recorder);
  await recorder.over;
  assert.equal(recorder.status, 200);
  assert.equal(client.counters.retries, 1);
});

test('takes a fresh connection when the origin closed the pooled one', async (t) => {
  const { raw, client, origin } = await startClient(t, ({ socket }) => {
    socket.write(answer('200 OK', [], 'x'));
    // Promised to stay, but doesn't.
    setTimeout(() => socket.destroy(), 20);
  });
  for (let i = 0; i < 3; i++) {
    const recorder = new Recorder();
    client.request(origin, requestTo(origin), recorder);
    await recorder.over;
    assert.equal(recorder.status, 200);
    await sleep(40);
  }
  assert.equal(raw.connections, 3);
});

test('never repeats a request whose body was consumed', async (t) => {
  const { raw, client, origin } = await startClient(t, ({ socket }) => socket.resetAndDestroy());
  const recorder = new Recorder();
  const exchange = client.request(
    origin,
    requestTo(origin, { method: 'PUT', bodyLength: 3 }),
    recorder,
  );
  exchange.write(Buffer.from('abc'));
  exchange.end();
  await recorder.over;
  assert.equal(recorder.failure?.code, 'reset');
  assert.equal(raw.requests.length, 1);
});

test('never repeats a request that is not idempotent', async (t) => {
  const { raw, client, origin } = await startClient(t, ({ socket }) => socket.resetAndDestroy());
  const recorder = new Recorder();
  client.request(origin, requestTo(origin, { method: 'POST', target: '/b/k?uploads' }), recorder);
  await recorder.over;
  assert.equal(recorder.failureCode, 'reset');
  assert.equal(raw.requests.length, 1);
});

test('never repeats a request once its head was handed on', async (t) => {
  const { raw, client, origin } = await startClient(t, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort');
    setTimeout(() => socket.resetAndDestroy(), 10);
  });
  const recorder = new Recorder();
  client.request(origin, requestTo(origin), recorder);
  await recorder.over;
  assert.equal(recorder.body.toString(), 'short');
  assert.equal(recorder.failure?.code, 'reset');
  assert.equal(raw.requests.length, 1);
});

test('while an origin is overloaded fetches wait together, and come back once it is calmer', async (t) => {
  let overloaded = true;
  const { raw, client, origin } = await startClient(
    t,
    ({ socket }) => {
      socket.write(overloaded ? answer('503 Slow Down', [], '') : answer('200 OK', [], 'x'));
    },
    { tries: 20 },
  );
  const recorders = Array.from({ length: 40 }, () => {
    const recorder = new Recorder();
    client.request(origin, requestTo(origin), recorder);
    return recorder;
  });
  await sleep(600);
  // By then pauses of 50, 100 and 200 ms are over: each asker alone would have come back five times and more.
  assert.ok(raw.requests.length < 40 * 5, `${raw.requests.length} requests`);
  assert.ok(client.counters.held > 0);
  overloaded = false;
  await Promise.all(recorders.map(({ over }) => over));
  for (const { status } of recorders) assert.equal(status, 200);
  // What a client sends on its own behalf is never held: it hears of the origin's state itself.
  overloaded = true;
  const passed = new Recorder();
  client.request(
    origin,
    requestTo(origin, { retryStatuses: new Set(), idempotent: false }),
    passed,
  );
  await passed.over;
  assert.equal(passed.status, 503);
  const held = client.counters.held;
  const next = new Recorder();
  client.request(origin, requestTo(origin, { retryStatuses: new Set(), idempotent: false }), next);
  await next.over;
  assert.equal(client.counters.held, held);
});

test('a fetch that is held too long gives up', async (t) => {
  const { client, origin } = await startClient(
    t,
    ({ socket }) => void socket.write(answer('503 Slow Down', [], '')),
    { tries: 1000, waitTimeoutMs: 300 },
  );
  const recorder = new Recorder();
  client.request(origin, requestTo(origin), recorder);
  await recorder.over;
  assert.equal(recorder.failureCode, 'timeout');
});
