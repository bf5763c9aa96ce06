import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestTo, startClient } from './testing/client-rig.ts';
import { answer } from './testing/raw-origin.ts';
import { Recorder } from './testing/recorder.ts';

test('an upload whose writer is slow does not time out, one whose origin does not read does', async (t) => {
  const { client, origin } = await startClient(
    t,
    ({ socket }) => void socket.pause(),
    {
      idleTimeoutMs: 300,
    },
    true,
  );
  const bodyLength = 64 * 1024 * 1024;
  const idle = new Recorder();
  const idleUpload = client.request(origin, requestTo(origin, { method: 'PUT', bodyLength }), idle);
  idleUpload.write(Buffer.from('some'));
  const blocked = new Recorder();
  const upload = client.request(origin, requestTo(origin, { method: 'PUT', bodyLength }), blocked);
  let writing = true;
  const fill = (): void => {
    while (writing && upload.write(Buffer.alloc(65536)));
  };
  blocked.onEvent = (event): void => {
    if (event === 'drain') fill();
    if (event === 'failed') writing = false;
  };
  fill();
  await blocked.over;
  assert.equal(blocked.failure?.code, 'timeout');
  assert.equal(idle.failure, null);
  idleUpload.abort();
});

test('sends a streamed body with its exact length', async (t) => {
  const { raw, client, origin } = await startClient(t, ({ socket }) => {
    socket.write(answer('200 OK', [], ''));
  });
  const recorder = new Recorder();
  const bodyLength = 3_000_000;
  const exchange = client.request(
    origin,
    requestTo(origin, { method: 'PUT', bodyLength }),
    recorder,
  );
  let written = 0;
  const fill = (): void => {
    while (written < bodyLength) {
      const part = Buffer.alloc(Math.min(50_000, bodyLength - written), written % 251);
      written += part.length;
      if (!exchange.write(part)) return;
    }
    exchange.end();
  };
  recorder.onEvent = (event): void => {
    if (event === 'drain') fill();
  };
  fill();
  await recorder.over;
  assert.equal(recorder.status, 200);
  assert.match(raw.requests[0]!.head, /\r\ncontent-length: 3000000(\r\n|$)/);
  assert.equal(raw.requests[0]!.body.length, bodyLength);
  assert.ok(recorder.drains > 0, 'the writer was held back');
});

test('a PUT without bytes says so', async (t) => {
  const { raw, client, origin } = await startClient(t, ({ socket }) => {
    socket.write(answer('200 OK', [], ''));
  });
  const recorder = new Recorder();
  const exchange = client.request(
    origin,
    requestTo(origin, { method: 'PUT', bodyLength: 0 }),
    recorder,
  );
  exchange.end();
  await recorder.over;
  assert.match(raw.requests[0]!.head, /\r\ncontent-length: 0(\r\n|$)/);
});

test('an answer that comes before the upload is complete reaches the listener', async (t) => {
  const { client, origin } = await startClient(
    t,
    ({ socket }) => {
      socket.write(answer('403 Forbidden', [], '<Error/>'));
    },
    {},
    true,
  );
  const recorder = new Recorder();
  const exchange = client.request(
    origin,
    requestTo(origin, { method: 'PUT', bodyLength: 1000 }),
    recorder,
  );
  exchange.write(Buffer.alloc(10));
  await recorder.over;
  assert.equal(recorder.status, 403);
  assert.equal(recorder.body.toString(), '<Error/>');
  assert.equal(exchange.write(Buffer.alloc(10)), true, 'later writes do nothing');
});
