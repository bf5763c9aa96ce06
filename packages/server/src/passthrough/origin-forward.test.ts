import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { crc32 } from 'node:zlib';
import { defaultCredential, startMemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import type { MemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import { OriginClient } from '../origin/origin-client.ts';
import type { OriginFailure } from '../origin/origin-failure.ts';
import { Origins } from '../origin/origins.ts';
import type { OriginSettings } from '../origin/origins.ts';
import { RawOrigin, answer } from '../origin/testing/raw-origin.ts';
import type { RawScript } from '../origin/testing/raw-origin.ts';
import { withTrailerFraming } from './body-headers.ts';
import type { ForwardRequest } from './forward.ts';
import { OriginForward } from './origin-forward.ts';
import { SinkRecorder } from './testing/sink-recorder.ts';
import { TrailerFraming, framedLength } from './trailer-framing.ts';

function settingsFor(endpoint: string): OriginSettings {
  const credentials = {
    accessKeyId: defaultCredential.accessKey,
    secretAccessKey: defaultCredential.secretKey,
  };
  return { endpoint, region: 'us-east-1', credentials };
}

interface Rig {
  port: OriginForward;
  client: OriginClient;
  failures: OriginFailure[];
}

function rigFor(t: TestContext, origins: Origins): Rig {
  const client = new OriginClient();
  const failures: OriginFailure[] = [];
  t.after(() => client.close());
  const port = new OriginForward(
    client,
    () => origins,
    (failure) => failures.push(failure),
  );
  return { port, client, failures };
}

async function onMemoryS3(
  t: TestContext,
  settings: Partial<OriginSettings> = {},
  bucket = 'data',
): Promise<Rig & { s3: MemoryS3 }> {
  const s3 = await startMemoryS3({ buckets: [bucket] });
  t.after(() => s3.close());
  return { ...rigFor(t, new Origins({ ...settingsFor(s3.endpoint), ...settings })), s3 };
}

async function onRaw(
  t: TestContext,
  script: RawScript,
  atHead = false,
): Promise<Rig & { raw: RawOrigin }> {
  const raw = await RawOrigin.start(script, atHead);
  t.after(() => raw.close());
  return { ...rigFor(t, new Origins(settingsFor(raw.endpoint))), raw };
}

function get(target: string, changes: Partial<ForwardRequest> = {}): ForwardRequest {
  const base = { method: 'GET', bucket: 'data', key: 'k', headers: [], bodyLength: null };
  return { ...base, target, ...changes };
}

async function send(rig: Rig, request: ForwardRequest, body?: Uint8Array): Promise<SinkRecorder> {
  const sink = new SinkRecorder();
  const forwarding = rig.port.forward(request, sink);
  if (body !== undefined) forwarding.write(body);
  forwarding.end();
  await sink.over;
  return sink;
}

test('a GET travels there and back, with the origin’s headers as they are', async (t) => {
  const rig = await onMemoryS3(t);
  rig.s3.put('data', 'k', 'hello', { 'x-amz-meta-note': 'two  spaces' });
  const sink = await send(
    rig,
    get('/data/k', { headers: ['Host', 'cache', 'Range', 'bytes=1-2'] }),
  );
  assert.equal(sink.status, 206);
  assert.equal(sink.body.toString(), 'el');
  assert.equal(sink.header('x-amz-meta-note'), 'two  spaces');
  assert.notEqual(sink.header('x-amz-request-id'), '');
});

test('odd targets reach the origin byte for byte', async (t) => {
  const rig = await onMemoryS3(t);
  for (const [target, key] of [
    ['/data///..', '//..'],
    ['/data/a/../k', 'a/../k'],
    ['/data/%2F%2f', '//'],
    ['/data/a%2fb', 'a/b'],
    ['/data/a+b', 'a+b'],
    ['/data/%61', 'a'],
    ["/data/!*'()", "!*'()"],
    ['/data/%252F', '%2F'],
  ] as const) {
    const sink = await send(rig, get(target, { method: 'PUT', bodyLength: 2 }), Buffer.from('ok'));
    assert.equal(sink.status, 200, target);
    assert.equal(rig.s3.get('data', key)?.bytes.toString(), 'ok', target);
  }
});

test('the client’s credentials stay behind, in headers and in the query', async (t) => {
  const rig = await onRaw(t, ({ socket }) => void socket.write(answer('200 OK', [], '')));
  const headers = [
    'Host',
    'cache.example',
    'Authorization',
    'AWS4-HMAC-SHA256 client',
    'X-Amz-Security-Token',
    'client-token',
    'X-Amz-Date',
    '20200101T000000Z',
    'Expect',
    '100-continue',
    'Connection',
    'keep-alive, hop',
    'X-Amz-Meta-A',
    '\xff',
  ];
  const query =
    'list-type=2&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=c%2Fx&X-Amz-Date=d&X-Amz-Expires=9' +
    '&prefix=a%2fb+c&X-Amz-SignedHeaders=host&x-amz-security-token=t&X-Amz-Signature=s&&x=';
  await send(rig, get(`/data?${query}`, { headers }));
  const { head } = rig.raw.requests[0]!;
  assert.match(head, /^GET \/data\?list-type=2&prefix=a%2fb\+c&x= HTTP/);
  assert.doesNotMatch(head, /client|cache\.example|20200101|expect|hop/i);
  assert.match(head, /\r\nX-Amz-Meta-A: \xff\r\n/);
});

test('a Connection header, which nobody signs, takes no signed header away', async (t) => {
  const rig = await onRaw(t, ({ socket }) => void socket.write(answer('200 OK', [], '')));
  const signed = ['if-none-match', '*', 'x-amz-server-side-encryption', 'AES256'];
  const headers = [...signed, 'Connection', 'if-none-match, X-Amz-Server-Side-Encryption'];
  await send(rig, get('/data/k', { method: 'PUT', headers, bodyLength: 2 }), Buffer.from('ok'));
  const { head } = rig.raw.requests[0]!;
  assert.match(head, /\r\nif-none-match: \*\r\n/);
  assert.match(head, /\r\nx-amz-server-side-encryption: AES256\r\n/);
  assert.doesNotMatch(head, /\r\nconnection: .*if-none-match/i);
});

test('a bucket with another name at its origin is renamed in path and copy source', async (t) => {
  const rig = await onMemoryS3(t, { bucket: 'real-name' }, 'real-name');
  rig.s3.put('real-name', 'source', 'bytes');
  const copy = await send(
    rig,
    get('/data/target', { method: 'PUT', headers: ['x-amz-copy-source', '/data/source'] }),
  );
  assert.equal(copy.status, 200);
  assert.equal(rig.s3.get('real-name', 'target')?.bytes.toString(), 'bytes');
  const listing = await send(rig, get('/data?list-type=2'));
  assert.match(listing.body.toString(), /<Key>target<\/Key>/);
});

test('a copy between two origins is refused', async (t) => {
  const s3 = await startMemoryS3({ buckets: ['data'] });
  t.after(() => s3.close());
  const elsewhere = { ...settingsFor('http://127.0.0.1:1') };
  const rig = rigFor(t, new Origins(settingsFor(s3.endpoint), [['other', elsewhere]]));
  const headers = ['X-Amz-Copy-Source', 'other/key'];
  const sink = await send(rig, get('/data/k', { method: 'PUT', headers }));
  assert.equal(sink.error?.code, 'NotImplemented');
});

test('a PUT arrives with its exact length and its hash', async (t) => {
  const rig = await onRaw(t, ({ socket }) => void socket.write(answer('200 OK', [], '')));
  const body = Buffer.alloc(200_000, 'x');
  const hash = createHash('sha256').update(body).digest('hex');
  const headers = ['Content-Length', '200000', 'x-amz-content-sha256', hash];
  await send(rig, get('/data/k', { method: 'PUT', headers, bodyLength: body.length }), body);
  const { head, body: arrived } = rig.raw.requests[0]!;
  assert.deepEqual(head.match(/content-length: \d+/gi), ['content-length: 200000']);
  assert.ok(head.includes(`x-amz-content-sha256: ${hash}`));
  assert.ok(arrived.equals(body));
});

test('nothing is sent before the first byte or the end of the body', async (t) => {
  const rig = await onRaw(t, ({ socket }) => void socket.write(answer('200 OK', [], '')));
  const sink = new SinkRecorder();
  const forwarding = rig.port.forward(get('/data/k', { method: 'PUT', bodyLength: 0 }), sink);
  await sleep(30);
  assert.equal(rig.raw.requests.length, 0);
  forwarding.end();
  await sink.over;
  assert.match(rig.raw.requests[0]!.head, /\r\ncontent-length: 0(\r\n|$)/);
});

test('an abort in the middle of the body leaves the old object alone', async (t) => {
  const rig = await onMemoryS3(t);
  rig.s3.put('data', 'k', 'old');
  const sink = new SinkRecorder();
  const forwarding = rig.port.forward(
    get('/data/k', { method: 'PUT', bodyLength: 1_000_000 }),
    sink,
  );
  forwarding.write(Buffer.alloc(900_000));
  await sleep(30);
  forwarding.abort();
  forwarding.end();
  await sleep(50);
  assert.equal(rig.s3.get('data', 'k')?.bytes.toString(), 'old');
  assert.equal(sink.status, 0);
  assert.equal(sink.error, null);
  assert.equal(rig.client.counters.inFlight, 0);
});

test('a body that ends too early is never a whole one', async (t) => {
  const rig = await onMemoryS3(t);
  rig.s3.put('data', 'k', 'old');
  const request = get('/data/k', { method: 'PUT', bodyLength: 10 });
  const sink = await send(rig, request, Buffer.from('short'));
  assert.equal(sink.error?.code, 'ServiceUnavailable');
  assert.equal(rig.s3.get('data', 'k')?.bytes.toString(), 'old');
});

test('an error of the origin is an answer like any other, and is not repeated', async (t) => {
  const rig = await onRaw(t, ({ socket }) => {
    socket.write(answer('503 Slow Down', ['X-Amz-Request-Id: R'], '<Error/>'));
  });
  const sink = await send(rig, get('/data/k'));
  assert.deepEqual([sink.status, sink.body.toString()], [503, '<Error/>']);
  assert.equal(sink.header('x-amz-request-id'), 'R');
  assert.equal(rig.raw.requests.length, 1);
});

test('a GET is sent again after a reset, a POST is not', async (t) => {
  const rig = await onRaw(t, ({ socket, number }) => {
    if (number === 1 || number === 3) socket.resetAndDestroy();
    else socket.write(answer('200 OK', [], 'x'));
  });
  assert.equal((await send(rig, get('/data/k'))).status, 200);
  const post = await send(rig, get('/data/k?uploads', { method: 'POST' }));
  assert.equal(post.error?.code, 'ServiceUnavailable');
  assert.equal(rig.raw.requests.length, 3);
});

test('an origin that is down is said to be so, without its address', async (t) => {
  const rig = rigFor(t, new Origins(settingsFor('http://127.0.0.1:1')));
  const sink = await send(rig, get('/data/k'));
  assert.equal(sink.error?.code, 'ServiceUnavailable');
  assert.doesNotMatch(sink.error.message, /127|ECONN/);
  assert.match(rig.failures[0]!.hint, /ECONNREFUSED/);
});

test('a bucket without an origin is unavailable while some are still untold', async (t) => {
  const rig = rigFor(t, new Origins(null, [], false));
  const sink = await send(rig, get('/data/k'));
  assert.equal(sink.error?.code, 'ServiceUnavailable');
});

test('a bucket without an origin does not exist', async (t) => {
  const rig = rigFor(t, new Origins(null));
  const sink = await send(rig, get('/data/k'));
  assert.equal(sink.error?.code, 'NoSuchBucket');
});

test('an answer that breaks off fails after what came', async (t) => {
  const rig = await onRaw(t, ({ socket }) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort');
  });
  const sink = await send(rig, get('/data/k'));
  assert.equal(sink.body.toString(), 'short');
  assert.equal(sink.error?.code, 'ServiceUnavailable');
});

/** A body as the gateway frames it when a checksum trails it. */
function framedPut(body: Buffer, checksum: string): { request: ForwardRequest; bytes: Buffer } {
  const trailer = 'x-amz-checksum-crc32';
  const out: Buffer[] = [];
  const write = (part: Uint8Array): boolean => out.push(Buffer.from(part)) > 0;
  const framing = new TrailerFraming(body.length);
  framing.push(body, write);
  framing.end(trailer, checksum, write);
  const client = ['Content-Encoding', 'gzip', 'x-amz-sdk-checksum-algorithm', 'CRC32'];
  const headers = withTrailerFraming(client, body.length, trailer);
  const bodyLength = framedLength(body.length, trailer);
  const request = get('/data/k', { method: 'PUT', headers, bodyLength });
  return { request, bytes: Buffer.concat(out) };
}

function crc32Of(body: Buffer): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return bytes.toString('base64');
}

for (const [what, size] of [
  ['small', 1000],
  ['empty', 0],
  ['large', 3_000_000],
] as const) {
  test(`a ${what} body with a trailing checksum is stored without framing, checked by the origin`, async (t) => {
    const rig = await onMemoryS3(t);
    const body = Buffer.alloc(size, 'bytes');
    const { request, bytes } = framedPut(body, crc32Of(body));
    assert.equal((await send(rig, request, bytes)).status, 200);
    assert.ok(rig.s3.get('data', 'k')?.bytes.equals(body));
    const read = await send(rig, get('/data/k', { headers: ['x-amz-checksum-mode', 'ENABLED'] }));
    assert.equal(read.header('content-encoding'), 'gzip');
    assert.equal(read.header('x-amz-checksum-crc32'), crc32Of(body));
    const wrong = framedPut(body, 'AAAAAQ==');
    assert.equal((await send(rig, wrong.request, wrong.bytes)).status, 400);
  });

  test(`a ${what} body goes without framing to an origin that takes no trailers`, async (t) => {
    const rig = await onMemoryS3(t, { checksumTrailers: false });
    const body = Buffer.alloc(size, 'bytes');
    const { request, bytes } = framedPut(body, crc32Of(body));
    assert.equal((await send(rig, request, bytes)).status, 200);
    assert.ok(rig.s3.get('data', 'k')?.bytes.equals(body));
    const read = await send(rig, get('/data/k', { headers: ['x-amz-checksum-mode', 'ENABLED'] }));
    assert.equal(read.header('content-encoding'), 'gzip');
    // Held for its checksum only when it is small.
    assert.equal(read.header('x-amz-checksum-crc32'), size > 1024 * 1024 ? '' : crc32Of(body));
    const seen = rig.s3.traffic.log.find(({ method }) => method === 'PUT');
    assert.equal(seen?.headers.get('x-amz-trailer'), undefined);
  });
}
