import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { certificate, startTlsFront } from '@s3-accelerator/load/testing/tls-front.ts';
import { OriginClient } from './origin-client.ts';
import type { OriginRequest } from './origin-exchange.ts';
import type { OriginLimits } from './origin-limits.ts';
import { hostOf, serverNameOf } from './origin-target.ts';
import { resolveOrigin } from './origins.ts';
import type { Origin } from './origins.ts';
import { RawOrigin, answer } from './testing/raw-origin.ts';
import type { RawScript } from './testing/raw-origin.ts';
import { Recorder } from './testing/recorder.ts';

const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };

function originAt(endpoint: string, limits: Partial<OriginLimits> = {}): Origin {
  return resolveOrigin({ endpoint, region: 'us-east-1', credentials, limits });
}

function request(origin: Origin, changes: Partial<OriginRequest> = {}): OriginRequest {
  return {
    operation: 'GetObject',
    method: 'GET',
    target: '/b/k',
    sign: () => ['host', origin.host],
    bodyLength: null,
    idempotent: (changes.method ?? 'GET') === 'GET',
    retryStatuses: new Set([500, 503]),
    firstByteTimeoutMs: 5000,
    ...changes,
  };
}

async function start(
  t: TestContext,
  script: RawScript,
  limits: Partial<OriginLimits> = {},
  atHead = false,
): Promise<{ raw: RawOrigin; client: OriginClient; origin: Origin }> {
  const raw = await RawOrigin.start(script, atHead);
  const client = new OriginClient();
  t.after(async () => {
    await client.close();
    await raw.close();
  });
  return { raw, client, origin: originAt(raw.endpoint, limits) };
}

test('sends targets byte for byte', async (t) => {
  const { raw, client, origin } = await start(t, ({ socket }) => {
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
    client.request(origin, request(origin, { target }), recorder);
    await recorder.over;
    assert.equal(recorder.status, 200);
  }
  assert.deepEqual(
    raw.requests.map(({ head }) => head.split(' ')[1]),
    targets,
  );
});

test('sends header names, duplicates and bytes above 127 as given, and hands out answers the same way', async (t) => {
  const { raw, client, origin } = await start(t, ({ socket }) => {
    const lines = ['X-Amz-Meta-Twice: 1', 'x-AMZ-meta-twice: 2', 'ETag: "\xfc\xff"'];
    socket.write(Buffer.from(answer('206 Partial Content', lines, 'body'), 'latin1'));
  });
  const recorder = new Recorder();
  const headers = ['host', origin.host, 'X-Amz-Meta-One', 'a\xe9', 'x-amz-meta-one', 'two  spaces'];
  client.request(origin, request(origin, { sign: () => headers }), recorder);
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
  const { raw, client, origin } = await start(t, ({ socket, head }) => {
    socket.write(
      head.startsWith('HEAD')
        ? 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: keep-alive\r\n\r\n'
        : answer('200 OK', [], 'x'),
    );
  });
  for (const method of ['HEAD', 'GET', 'HEAD']) {
    const recorder = new Recorder();
    client.request(origin, request(origin, { method }), recorder);
    await recorder.over;
    // undici takes a connection back one turn of the loop later.
    await sleep(5);
  }
  assert.equal(raw.connections, 1);
});

test('opens no more connections than allowed and lets the rest wait', async (t) => {
  const { raw, client, origin } = await start(
    t,
    ({ socket }) => void setTimeout(() => socket.write(answer('200 OK', [], 'x')), 5),
    { connections: 2 },
  );
  const recorders = Array.from({ length: 20 }, () => new Recorder());
  for (const recorder of recorders) client.request(origin, request(origin), recorder);
  await Promise.all(recorders.map(({ over }) => over));
  assert.equal(raw.requests.length, 20);
  assert.equal(raw.connections, 2);
  assert.equal(client.counters.inFlight, 0);
  assert.equal(client.counters.answers.get('GetObject 200'), 20);
});

test('refuses one request more than may wait, as busy', async (t) => {
  const { client, origin } = await start(t, () => undefined, { requests: 2 });
  client.request(origin, request(origin), new Recorder());
  client.request(origin, request(origin), new Recorder());
  const third = new Recorder();
  client.request(origin, request(origin), third);
  await third.over;
  assert.equal(third.failure?.code, 'busy');
  assert.equal(client.counters.limitReached, 1);
});

test('tries a request again when the answer is 503, at most as often as allowed', async (t) => {
  const { raw, client, origin } = await start(t, ({ socket, number }) => {
    socket.write(number <= 2 ? answer('503 Slow Down', [], '<Error/>') : answer('200 OK', [], 'x'));
  });
  const recorder = new Recorder();
  client.request(origin, request(origin), recorder);
  await recorder.over;
  assert.equal(recorder.status, 200);
  assert.equal(raw.requests.length, 3);
  assert.equal(client.counters.retries, 2);
});

test('hands on the last error answer once the tries are used up', async (t) => {
  const { raw, client, origin } = await start(t, ({ socket }) => {
    socket.write(answer('503 Slow Down', [], '<Error/>'));
  });
  const recorder = new Recorder();
  client.request(origin, request(origin), recorder);
  await recorder.over;
  assert.equal(recorder.status, 503);
  assert.equal(recorder.body.toString(), '<Error/>');
  assert.equal(raw.requests.length, 3);
});

test('tries again after a reset before the head', async (t) => {
  const { client, origin } = await start(t, ({ socket, number }) => {
    if (number === 1) socket.resetAndDestroy();
    else socket.write(answer('200 OK', [], 'x'));
  });
  const recorder = new Recorder();
  client.request(origin, request(origin), recorder);
  await recorder.over;
  assert.equal(recorder.status, 200);
  assert.equal(client.counters.retries, 1);
});

test('takes a fresh connection when the origin closed the pooled one', async (t) => {
  const { raw, client, origin } = await start(t, ({ socket }) => {
    socket.write(answer('200 OK', [], 'x'));
    // Promised to stay, but doesn't.
    setTimeout(() => socket.destroy(), 20);
  });
  for (let i = 0; i < 3; i++) {
    const recorder = new Recorder();
    client.request(origin, request(origin), recorder);
    await recorder.over;
    assert.equal(recorder.status, 200);
    await sleep(40);
  }
  assert.equal(raw.connections, 3);
});

test('never repeats a request whose body was consumed', async (t) => {
  const { raw, client, origin } = await start(t, ({ socket }) => socket.resetAndDestroy());
  const recorder = new Recorder();
  const exchange = client.request(
    origin,
    request(origin, { method: 'PUT', bodyLength: 3 }),
    recorder,
  );
  exchange.write(Buffer.from('abc'));
  exchange.end();
  await recorder.over;
  assert.equal(recorder.failure?.code, 'reset');
  assert.equal(raw.requests.length, 1);
});

test('never repeats a request that is not idempotent', async (t) => {
  const { raw, client, origin } = await start(t, ({ socket }) => socket.resetAndDestroy());
  const recorder = new Recorder();
  client.request(origin, request(origin, { method: 'POST', target: '/b/k?uploads' }), recorder);
  await recorder.over;
  assert.equal(recorder.failureCode, 'reset');
  assert.equal(raw.requests.length, 1);
});

test('never repeats a request once its head was handed on', async (t) => {
  const { raw, client, origin } = await start(t, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort');
    setTimeout(() => socket.resetAndDestroy(), 10);
  });
  const recorder = new Recorder();
  client.request(origin, request(origin), recorder);
  await recorder.over;
  assert.equal(recorder.body.toString(), 'short');
  assert.equal(recorder.failure?.code, 'reset');
  assert.equal(raw.requests.length, 1);
});

test('reports a body that ends before its promised length as a failure', async (t) => {
  const { client, origin } = await start(t, ({ socket }) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort');
  });
  const recorder = new Recorder();
  client.request(origin, request(origin), recorder);
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
  client.request(origin, request(origin), recorder);
  await recorder.over;
  assert.equal(recorder.failure?.code, 'unreachable');
  assert.match(recorder.failure.hint, /ECONNREFUSED/);
});

test('gives up on an answer whose first byte never comes', async (t) => {
  const { client, origin } = await start(t, () => undefined);
  const recorder = new Recorder();
  client.request(origin, request(origin, { firstByteTimeoutMs: 100 }), recorder);
  await recorder.over;
  assert.equal(recorder.failure?.code, 'timeout');
});

test('gives up on a body that stops moving, but not while the reader is the slow one', async (t) => {
  const { client, origin } = await start(
    t,
    ({ socket }) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort'),
    { idleTimeoutMs: 300 },
  );
  const stalled = new Recorder();
  const slow = new Recorder();
  client.request(origin, request(origin), stalled);
  const exchange = client.request(origin, request(origin), slow);
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

test('an upload whose writer is slow does not time out, one whose origin does not read does', async (t) => {
  const { client, origin } = await start(
    t,
    ({ socket }) => void socket.pause(),
    {
      idleTimeoutMs: 300,
    },
    true,
  );
  const bodyLength = 64 * 1024 * 1024;
  const idle = new Recorder();
  const idleUpload = client.request(origin, request(origin, { method: 'PUT', bodyLength }), idle);
  idleUpload.write(Buffer.from('some'));
  const blocked = new Recorder();
  const upload = client.request(origin, request(origin, { method: 'PUT', bodyLength }), blocked);
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

test('holds bytes that arrive while paused, also when the origin closes meanwhile', async (t) => {
  const size = 300_000;
  const { client, origin } = await start(t, ({ socket }) => {
    socket.end(
      `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n${'z'.repeat(size)}`,
    );
  });
  const recorder = new Recorder();
  const exchange = client.request(origin, request(origin), recorder);
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

test('an aborted request says nothing more and destroys its connection before the body is whole', async (t) => {
  let closed = 0;
  const { raw, client, origin } = await start(
    t,
    ({ socket }) => void socket.on('close', () => closed++),
    {},
    true,
  );
  const recorder = new Recorder();
  recorder.onEvent = (event): void => assert.notEqual(event, 'failed');
  const exchange = client.request(
    origin,
    request(origin, { method: 'PUT', bodyLength: 10 }),
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
  const { raw, client, origin } = await start(
    t,
    ({ socket }) => {
      setTimeout(() => socket.write(answer('200 OK', [], 'x')), 30);
    },
    { connections: 1 },
  );
  const first = new Recorder();
  client.request(origin, request(origin), first);
  const second = client.request(origin, request(origin, { target: '/b/second' }), new Recorder());
  const third = new Recorder();
  client.request(origin, request(origin), third);
  await sleep(10);
  second.abort();
  await Promise.all([first.over, third.over]);
  assert.equal(third.status, 200);
  assert.equal(
    raw.requests.some(({ head }) => head.includes('second')),
    false,
  );
});

test('sends a streamed body with its exact length', async (t) => {
  const { raw, client, origin } = await start(t, ({ socket }) => {
    socket.write(answer('200 OK', [], ''));
  });
  const recorder = new Recorder();
  const bodyLength = 3_000_000;
  const exchange = client.request(origin, request(origin, { method: 'PUT', bodyLength }), recorder);
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
  const { raw, client, origin } = await start(t, ({ socket }) => {
    socket.write(answer('200 OK', [], ''));
  });
  const recorder = new Recorder();
  const exchange = client.request(
    origin,
    request(origin, { method: 'PUT', bodyLength: 0 }),
    recorder,
  );
  exchange.end();
  await recorder.over;
  assert.match(raw.requests[0]!.head, /\r\ncontent-length: 0(\r\n|$)/);
});

test('an answer that comes before the upload is complete reaches the listener', async (t) => {
  const { client, origin } = await start(
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
    request(origin, { method: 'PUT', bodyLength: 1000 }),
    recorder,
  );
  exchange.write(Buffer.alloc(10));
  await recorder.over;
  assert.equal(recorder.status, 403);
  assert.equal(recorder.body.toString(), '<Error/>');
  assert.equal(exchange.write(Buffer.alloc(10)), true, 'later writes do nothing');
});

test('informational answers pass by', async (t) => {
  const { client, origin } = await start(t, ({ socket }) => {
    socket.write('HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n');
    socket.write(answer('200 OK', [], 'x'));
  });
  const recorder = new Recorder();
  client.request(origin, request(origin), recorder);
  await recorder.over;
  assert.equal(recorder.status, 200);
});

test('a status that HTTP does not have is a protocol failure', async (t) => {
  for (const status of [600, 999]) {
    const { raw, client, origin } = await start(t, ({ socket }) => {
      socket.write(answer(`${status} Odd`, [], 'x'));
    });
    const recorder = new Recorder();
    client.request(origin, request(origin), recorder);
    await recorder.over;
    assert.equal(recorder.failure?.code, 'protocol');
    assert.equal(raw.requests.length, 1);
    assert.equal(client.counters.inFlight, 0);
  }
});

test('an answer that is not HTTP is a protocol failure and is not repeated', async (t) => {
  const { raw, client, origin } = await start(t, ({ socket }) => {
    socket.write('SSH-2.0-OpenSSH\r\n\r\n');
  });
  const recorder = new Recorder();
  client.request(origin, request(origin), recorder);
  await recorder.over;
  assert.equal(recorder.failure?.code, 'protocol');
  assert.equal(raw.requests.length, 1);
});

test('while an origin is overloaded fetches wait together, and come back once it is calmer', async (t) => {
  let overloaded = true;
  const { raw, client, origin } = await start(
    t,
    ({ socket }) => {
      socket.write(overloaded ? answer('503 Slow Down', [], '') : answer('200 OK', [], 'x'));
    },
    { tries: 20 },
  );
  const recorders = Array.from({ length: 40 }, () => {
    const recorder = new Recorder();
    client.request(origin, request(origin), recorder);
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
  client.request(origin, request(origin, { retryStatuses: new Set(), idempotent: false }), passed);
  await passed.over;
  assert.equal(passed.status, 503);
  const held = client.counters.held;
  const next = new Recorder();
  client.request(origin, request(origin, { retryStatuses: new Set(), idempotent: false }), next);
  await next.over;
  assert.equal(client.counters.held, held);
});

test('a fetch that is held too long gives up', async (t) => {
  const { client, origin } = await start(
    t,
    ({ socket }) => void socket.write(answer('503 Slow Down', [], '')),
    { tries: 1000, waitTimeoutMs: 300 },
  );
  const recorder = new Recorder();
  client.request(origin, request(origin), recorder);
  await recorder.over;
  assert.equal(recorder.failureCode, 'timeout');
});

test('a request that is given up in the turn that made it is never sent', async (t) => {
  const { raw, client, origin } = await start(t, ({ socket }) => {
    socket.write(answer('200 OK', [], 'x'));
  });
  client.request(origin, request(origin), new Recorder()).abort();
  await sleep(50);
  assert.equal(raw.requests.length, 0);
  assert.equal(client.counters.inFlight, 0);
});

test('an aborted fetch that was held is never sent', async (t) => {
  const { raw, client, origin } = await start(t, ({ socket }) => {
    socket.write(answer('503 Slow Down', [], ''));
  });
  const first = new Recorder();
  client.request(origin, request(origin, { retryStatuses: new Set() }), first);
  await first.over;
  const held = client.request(origin, request(origin), new Recorder());
  await sleep(5);
  held.abort();
  await sleep(150);
  assert.equal(raw.requests.length, 1);
  assert.equal(client.counters.inFlight, 0);
});

test('an https origin is trusted by the authorities that it was given, and by no others', async (t) => {
  const { raw, client } = await start(t, ({ socket }) => {
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
    client.request(origin, request(origin, { sign: () => headers, ...names }), recorder);
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
