import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { defaultCredential, startMemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import type { MemoryS3, MemoryS3Options } from '@s3-accelerator/memory-s3/memory-s3.ts';
import type { Grant } from '../auth/grants.ts';
import { Origins } from '../origin/origins.ts';
import type { OriginSettings } from '../origin/origins.ts';
import { RawOrigin, answer } from '../origin/testing/raw-origin.ts';
import type { RawScript } from '../origin/testing/raw-origin.ts';
import type { Answer } from '../testing/raw-connection.ts';
import { GatewayRig, everything } from './testing/gateway-rig.ts';
import { call, open, readAnswer, signedHead } from './testing/signed-client.ts';
import type { RawCall } from './testing/signed-client.ts';

function settingsFor(endpoint: string): OriginSettings {
  const credentials = {
    accessKeyId: defaultCredential.accessKey,
    secretAccessKey: defaultCredential.secretKey,
  };
  return { endpoint, region: 'us-east-1', credentials };
}

interface OnMemoryS3 {
  s3: MemoryS3;
  rig: GatewayRig;
  send: (request: RawCall) => Promise<Answer>;
}

async function onMemoryS3(
  t: TestContext,
  grants: readonly Grant[] = everything,
  options: MemoryS3Options = {},
): Promise<OnMemoryS3> {
  const s3 = await startMemoryS3({ buckets: ['data', 'other'], ...options });
  const rig = new GatewayRig(new Origins(settingsFor(s3.endpoint)), grants);
  t.after(async () => {
    await rig.close();
    await s3.close();
  });
  return { s3, rig, send: (request) => call(rig.port, request) };
}

async function onRaw(
  t: TestContext,
  script: RawScript,
  atHead = false,
): Promise<{ raw: RawOrigin; rig: GatewayRig; send: (request: RawCall) => Promise<Answer> }> {
  const raw = await RawOrigin.start(script, atHead);
  const rig = new GatewayRig(new Origins(settingsFor(raw.endpoint)));
  t.after(async () => {
    await rig.close();
    await raw.close();
  });
  return { raw, rig, send: (request) => call(rig.port, request) };
}

test('an upload and a read pass through with everything they say', async (t) => {
  const { send, rig } = await onMemoryS3(t);
  const headers = ['X-Amz-Meta-Note', 'two  spaces', 'Content-Type', 'text/x'];
  const put = await send({ method: 'PUT', target: '/data/k', headers, body: Buffer.from('hello') });
  assert.equal(put.status, 200);
  assert.notEqual(put.header('etag'), '');
  const got = await send({ method: 'GET', target: '/data/k' });
  assert.deepEqual([got.status, got.body.toString()], [200, 'hello']);
  assert.equal(got.header('x-amz-meta-note'), 'two  spaces');
  assert.equal(got.header('content-length'), '5');
  const head = await send({ method: 'HEAD', target: '/data/k' });
  assert.deepEqual([head.status, head.header('content-length'), head.body.length], [200, '5', 0]);
  assert.deepEqual(rig.writes, ['started data/k', 'done data/k']);
  assert.equal(rig.passThrough.inFlight, 0);
});

test('answers keep the origin’s status, header case, duplicates, order and bytes', async (t) => {
  const { send } = await onRaw(t, ({ socket }) => {
    const lines = ['X-Amz-Meta-A: \xff', 'x-amz-meta-a: 2', 'ETag: "e"', 'x-amz-id-2: I'];
    const own = ['Date: Thu, 01 Jan 1970 00:00:00 GMT', 'x-amz-request-id: R', 'Connection: X-Hop'];
    const text = answer('206 Partial Content', [...lines, ...own, 'X-Hop: 1'], 'abc');
    socket.write(Buffer.from(text, 'latin1'));
  });
  const got = await send({ method: 'GET', target: '/data/k?versionId=1' });
  assert.equal(got.status, 206);
  const from = got.headerLines.indexOf('X-Amz-Meta-A: \xff');
  assert.deepEqual(got.headerLines.slice(from, from + 4), [
    'X-Amz-Meta-A: \xff',
    'x-amz-meta-a: 2',
    'ETag: "e"',
    'x-amz-id-2: I',
  ]);
  assert.equal(got.header('x-amz-request-id'), 'R');
  assert.equal(got.header('x-hop'), '');
  assert.doesNotMatch(got.header('date'), /1970/);
  assert.equal(got.headerLines.filter((line) => /^x-amz-request-id:/i.test(line)).length, 1);
});

test('a body of unknown length is passed on in chunks', async (t) => {
  const { send } = await onRaw(t, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
    setTimeout(() => socket.write('2\r\nde\r\n0\r\n\r\n'), 10);
  });
  const got = await send({ method: 'GET', target: '/data?list-type=2' });
  assert.equal(got.body.toString(), 'abcde');
  assert.equal(got.header('transfer-encoding'), 'chunked');
  assert.equal(got.isCut, false);
});

test('204 and 304 have no body, and the connection stays in step', async (t) => {
  const { rig } = await onMemoryS3(t);
  const socket = await open(rig.port);
  t.after(() => socket.destroy());
  let text = '';
  socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
  const statuses = (): (string | undefined)[] =>
    [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
  const send = async (request: RawCall): Promise<void> => {
    const before = statuses().length;
    socket.write(signedHead(request, request.body?.length ?? 0).head);
    if (request.body !== undefined) socket.write(request.body);
    while (statuses().length === before) await sleep(2);
  };
  await send({ method: 'PUT', target: '/data/k', body: Buffer.from('hello') });
  const etag = /etag: ("[^"]+")/i.exec(text)?.[1] ?? '';
  await send({ method: 'GET', target: '/data/k', headers: ['if-none-match', etag] });
  await send({ method: 'DELETE', target: '/data/k' });
  await send({ method: 'HEAD', target: '/data/k' });
  assert.deepEqual(statuses(), ['200', '304', '204', '404']);
});

test('odd paths travel byte for byte', async (t) => {
  const { s3, send } = await onMemoryS3(t);
  for (const [target, key] of [
    ['/data///..', '//..'],
    ['/data/a/../k', 'a/../k'],
    ['/data/%2F%2f', '//'],
    ['/data/a+b', 'a+b'],
    ['/data/%61', 'a'],
    ["/data/!*'()", "!*'()"],
    ['/data/%252F', '%2F'],
  ] as const) {
    const put = await send({ method: 'PUT', target, body: Buffer.from(key) });
    assert.equal(put.status, 200, target);
    assert.equal(s3.get('data', key)?.bytes.toString(), key);
    assert.equal(s3.traffic.log.at(-1)?.target, target);
    assert.equal((await send({ method: 'GET', target })).body.toString(), key);
  }
});

test('a body that is not what was signed never replaces the object', async (t) => {
  const { s3, rig, send } = await onMemoryS3(t);
  s3.put('data', 'k', 'old');
  for (const size of [10, 1_000_000]) {
    const put = await send({
      method: 'PUT',
      target: '/data/k',
      payload: '0'.repeat(64),
      body: Buffer.alloc(size),
    });
    assert.equal(put.status, 400);
    assert.match(put.body.toString(), /<Code>XAmzContentSHA256Mismatch<\/Code>/);
  }
  await sleep(30);
  assert.equal(s3.get('data', 'k')?.bytes.toString(), 'old');
  assert.deepEqual(rig.writes.slice(0, 2), ['started data/k', 'failed data/k']);
  assert.equal(rig.passThrough.inFlight, 0);
  assert.equal(rig.client.counters.inFlight, 0);
});

test('a wrong Content-MD5 or checksum header is the origin’s error, and no object', async (t) => {
  const { s3, send } = await onMemoryS3(t);
  const body = Buffer.from('hello');
  for (const headers of [
    ['content-md5', 'AAAAAAAAAAAAAAAAAAAAAA=='],
    ['x-amz-checksum-crc32', 'AAAAAA=='],
  ]) {
    const put = await send({ method: 'PUT', target: '/data/k', headers, body });
    assert.match(put.body.toString(), /<Code>BadDigest<\/Code>/);
  }
  assert.equal(s3.get('data', 'k'), null);
});

test('an upload without Content-Length has to say how long it is', async (t) => {
  const { rig } = await onMemoryS3(t);
  const request: RawCall = { method: 'PUT', target: '/data/k', payload: 'UNSIGNED-PAYLOAD' };
  const head = signedHead(request, 0).head.toString('latin1');
  const socket = await open(rig.port);
  socket.write(head.replace('content-length: 0', 'transfer-encoding: chunked'));
  socket.write('2\r\nab\r\n0\r\n\r\n');
  const put = await readAnswer(socket, 'PUT');
  assert.deepEqual([put.status, /MissingContentLength/.test(put.body.toString())], [411, true]);
});

test('a client that waits for 100 Continue gets it, and its upload through', async (t) => {
  const { rig, s3 } = await onMemoryS3(t);
  const body = Buffer.from('hello');
  const request = { method: 'PUT', target: '/data/k', headers: ['Expect', '100-continue'], body };
  const socket = await open(rig.port);
  let first = '';
  socket.once('data', (bytes: Buffer) => {
    first = bytes.toString('latin1');
    socket.write(body);
  });
  socket.write(signedHead(request, body.length).head);
  const put = await readAnswer(socket, 'PUT');
  assert.match(first, /^HTTP\/1\.1 100 /);
  assert.equal(put.status, 200);
  assert.equal(s3.get('data', 'k')?.bytes.toString(), 'hello');
});

test('copies and multipart uploads tell their outcome before the client knows it', async (t) => {
  const { s3, rig, send } = await onMemoryS3(t);
  s3.put('other', 'source', 'copied');
  const copy = await send({
    method: 'PUT',
    target: '/data/k',
    headers: ['x-amz-copy-source', '/other/source'],
  });
  assert.match(copy.body.toString(), /<CopyObjectResult/);
  assert.equal(s3.get('data', 'k')?.bytes.toString(), 'copied');
  assert.deepEqual(rig.writes.splice(0), ['started data/k', 'done data/k']);

  const created = await send({ method: 'POST', target: '/data/k?uploads' });
  const id = /<UploadId>([^<]+)</.exec(created.body.toString())?.[1] ?? '';
  const part = await send({
    method: 'PUT',
    target: `/data/k?partNumber=1&uploadId=${id}`,
    body: Buffer.from('part'),
  });
  assert.deepEqual(rig.writes, [], 'parts change no object');
  const parts = `<Part><PartNumber>1</PartNumber><ETag>${part.header('etag')}</ETag></Part>`;
  const complete = await send({
    method: 'POST',
    target: `/data/k?uploadId=${id}`,
    body: Buffer.from(`<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`),
  });
  assert.match(complete.body.toString(), /<CompleteMultipartUploadResult/);
  assert.equal(s3.get('data', 'k')?.bytes.toString(), 'part');
  assert.deepEqual(rig.writes, ['started data/k', 'done data/k']);
});

test('white space before a late error comes as it comes, and the write is no success', async (t) => {
  let release = (): void => undefined;
  const { rig } = await onRaw(t, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.write('27\r\n<?xml version="1.0" encoding="UTF-8"?>\n\r\n2\r\n  \r\n');
    release = (): void => {
      socket.write('7\r\n<Error>\r\n8\r\n</Error>\r\n0\r\n\r\n');
    };
  });
  const socket = await open(rig.port);
  const reading = readAnswer(socket, 'POST');
  let text = '';
  socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
  socket.write(signedHead({ method: 'POST', target: '/data/k?uploadId=1' }, 0).head);
  while (!text.includes('  \r\n')) await sleep(2);
  assert.deepEqual(rig.writes, ['started data/k']);
  release();
  const got = await reading;
  assert.match(got.body.toString(), /\n {2}<Error><\/Error>$/);
  assert.deepEqual(rig.writes, ['started data/k', 'unknown data/k']);
});

test('the outcome is told before the answer of a write can reach the client', async (t) => {
  const { rig } = await onMemoryS3(t);
  const seen: string[][] = [];
  const socket = await open(rig.port);
  socket.on('data', () => seen.push([...rig.writes]));
  socket.write(signedHead({ method: 'DELETE', target: '/data/k' }, 0).head);
  await readAnswer(socket, 'DELETE');
  assert.deepEqual(seen[0], ['started data/k', 'done data/k']);
});

const deleteBody = (...keys: string[]): Buffer =>
  Buffer.from(
    `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`,
  );

test('a multi-delete removes, marks and names each key, in any spelling', async (t) => {
  const { s3, rig, send } = await onMemoryS3(t);
  for (const key of ['a&b', 'c d', 'stays']) s3.put('data', key, 'x');
  const body = deleteBody('a&amp;b', 'c&#x20;d');
  const got = await send({ method: 'POST', target: '/data?delete', body });
  assert.match(got.body.toString(), /<Deleted><Key>a&amp;b<\/Key><\/Deleted>/);
  assert.deepEqual([s3.get('data', 'a&b'), s3.get('data', 'c d')], [null, null]);
  assert.notEqual(s3.get('data', 'stays'), null);
  assert.deepEqual(rig.writes, [
    'started data/a&b',
    'started data/c d',
    'done data/a&b',
    'done data/c d',
  ]);
});

test('a multi-delete with one key that is not granted deletes none', async (t) => {
  const grants: Grant[] = [{ bucket: 'data', prefix: 'mine/', access: 'write' }];
  const { s3, rig, send } = await onMemoryS3(t, grants);
  s3.put('data', 'mine/a', 'x');
  s3.put('data', 'theirs', 'x');
  const body = deleteBody('mine/a', '&#116;heirs');
  const got = await send({ method: 'POST', target: '/data?delete', body });
  assert.equal(got.status, 403);
  assert.notEqual(s3.get('data', 'mine/a'), null);
  assert.deepEqual(rig.writes, []);
  const granted = await send({
    method: 'POST',
    target: '/data?delete',
    body: deleteBody('mine/a'),
  });
  assert.equal(granted.status, 200);
});

test('a multi-delete that is no XML, too long or damaged is refused', async (t) => {
  const { s3, send } = await onMemoryS3(t);
  s3.put('data', 'k', 'x');
  const target = '/data?delete';
  const wrong = await send({ method: 'POST', target, body: Buffer.from('k') });
  assert.match(wrong.body.toString(), /MalformedXML/);
  const long = await send({ method: 'POST', target, body: Buffer.alloc(2 * 1024 * 1024 + 1, ' ') });
  assert.match(long.body.toString(), /MalformedXML/);
  const headers = ['content-md5', 'AAAAAAAAAAAAAAAAAAAAAA=='];
  const damaged = await send({ method: 'POST', target, headers, body: deleteBody('k') });
  assert.match(damaged.body.toString(), /BadDigest/);
  assert.notEqual(s3.get('data', 'k'), null);
});

test('ListBuckets shows granted buckets only', async (t) => {
  const { send } = await onMemoryS3(t, [{ bucket: 'other', prefix: 'x/', access: 'read' }]);
  const got = await send({ method: 'GET', target: '/' });
  const names = [...got.body.toString().matchAll(/<Name>([^<]+)</g)].map((match) => match[1]);
  assert.deepEqual([got.status, names], [200, ['other']]);
  assert.equal(got.header('content-length'), String(got.body.length));
});

test('a client that leaves in the middle of an upload aborts it at the origin', async (t) => {
  const { s3, rig } = await onMemoryS3(t);
  s3.put('data', 'k', 'old');
  const request = { method: 'PUT', target: '/data/k', payload: 'UNSIGNED-PAYLOAD' };
  const socket = await open(rig.port);
  socket.write(signedHead(request, 1_000_000).head);
  socket.write(Buffer.alloc(400_000));
  while (rig.client.counters.bodyBytesSent === 0) await sleep(2);
  socket.destroy();
  while (rig.passThrough.inFlight > 0 || rig.client.counters.inFlight > 0) await sleep(2);
  await sleep(30);
  assert.equal(s3.get('data', 'k')?.bytes.toString(), 'old');
  assert.deepEqual(rig.writes, ['started data/k', 'failed data/k']);
});

test('a client that leaves after its upload leaves a write of unknown outcome', async (t) => {
  const { raw, rig } = await onRaw(t, () => undefined);
  const socket = await open(rig.port);
  socket.write(signedHead({ method: 'DELETE', target: '/data/k' }, 0).head);
  while (raw.requests.length === 0) await sleep(2);
  // A FIN alone would only say that no further request comes.
  socket.resetAndDestroy();
  while (rig.passThrough.inFlight > 0) await sleep(2);
  assert.deepEqual(rig.writes, ['started data/k', 'unknown data/k']);
});

test('a client that leaves in the middle of an answer ends it at the origin', async (t) => {
  const { s3, rig } = await onMemoryS3(t);
  s3.putSynthetic('data', 'k', 500_000_000);
  const socket = await open(rig.port);
  socket.write(signedHead({ method: 'GET', target: '/data/k' }, 0).head);
  socket.once('data', () => socket.destroy());
  while (rig.passThrough.inFlight === 0) await sleep(2);
  while (rig.passThrough.inFlight > 0 || rig.client.counters.inFlight > 0) await sleep(2);
  assert.ok(rig.client.counters.bodyBytesReceived < 100_000_000);
});

test('a client that does not read holds back the origin', async (t) => {
  const { s3, rig } = await onMemoryS3(t);
  s3.putSynthetic('data', 'k', 500_000_000);
  const socket = await open(rig.port);
  socket.pause();
  socket.write(signedHead({ method: 'GET', target: '/data/k' }, 0).head);
  let before = -1;
  while (before !== rig.client.counters.bodyBytesReceived) {
    before = rig.client.counters.bodyBytesReceived;
    await sleep(150);
  }
  // Our window, and what the kernel holds for a socket on both of its sides.
  assert.ok(before < 30_000_000, `${before} bytes are on their way`);
  socket.destroy();
  while (rig.passThrough.inFlight > 0) await sleep(2);
});

test('an origin that is down is a ServiceUnavailable that says so', async (t) => {
  const rig = new GatewayRig(new Origins(settingsFor('http://127.0.0.1:1')));
  t.after(() => rig.close());
  const got = await call(rig.port, { method: 'DELETE', target: '/data/k' });
  assert.equal(got.status, 503);
  assert.match(got.body.toString(), /<Code>ServiceUnavailable<.*can not be reached/s);
  assert.deepEqual(rig.writes, ['started data/k', 'unknown data/k']);
});

test('an origin that closes or resets in the middle of a body breaks the client’s connection', async (t) => {
  const { send } = await onRaw(t, ({ socket, number }) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort');
    setTimeout(() => (number === 1 ? socket.end() : socket.resetAndDestroy()), 20);
  });
  for (let i = 0; i < 2; i++) {
    const got = await send({ method: 'GET', target: '/data/k' });
    assert.equal(got.isCut, true);
  }
});

test('an answer before the upload is complete reaches the client', async (t) => {
  const { rig } = await onRaw(
    t,
    ({ socket }) => {
      socket.write(answer('403 Forbidden', [], '<Error><Code>AccessDenied</Code></Error>'));
    },
    true,
  );
  const request = { method: 'PUT', target: '/data/k', payload: 'UNSIGNED-PAYLOAD' };
  const socket = await open(rig.port);
  socket.write(signedHead(request, 10_000_000).head);
  socket.write(Buffer.alloc(100_000));
  const got = await readAnswer(socket, 'PUT');
  assert.equal(got.status, 403);
  assert.match(got.body.toString(), /AccessDenied/);
  while (rig.passThrough.inFlight > 0) await sleep(2);
  assert.deepEqual(rig.writes, ['started data/k', 'failed data/k']);
});

test('write conditions pass to the origin unchanged', async (t) => {
  const { s3, send } = await onMemoryS3(t);
  s3.put('data', 'k', 'old');
  const headers = ['If-None-Match', '*'];
  const put = await send({ method: 'PUT', target: '/data/k', headers, body: Buffer.from('new') });
  assert.equal(put.status, 412);
  assert.equal(s3.get('data', 'k')?.bytes.toString(), 'old');
});

/** The most that the process held in memory while `work` ran, above what it held before. */
async function peakGrowth(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  await work();
  clearInterval(sampling);
  return peak - before;
}

const big = 300 * 1024 * 1024;

test('a download of 300 MB takes constant memory', async (t) => {
  const { s3, rig } = await onMemoryS3(t);
  s3.putSynthetic('data', 'k', big);
  s3.putSynthetic('data', 'warm-up', big / 10);
  const download = async (key: string, size: number): Promise<void> => {
    const socket = await open(rig.port);
    let received = 0;
    socket.on('data', (bytes: Buffer) => (received += bytes.length));
    socket.write(signedHead({ method: 'GET', target: `/data/${key}` }, 0).head);
    while (received < size) await sleep(5);
    socket.destroy();
  };
  await download('warm-up', big / 10);
  const growth = await peakGrowth(() => download('k', big));
  assert.ok(growth < 100 * 1024 * 1024, `memory grew by ${growth}`);
});

test('an upload of 300 MB takes constant memory', async (t) => {
  const { s3, rig } = await onMemoryS3(t);
  s3.createBucket('discarded', { discard: true });
  const upload = async (size: number): Promise<void> => {
    const socket = await open(rig.port);
    const request = { method: 'PUT', target: '/discarded/k', payload: 'UNSIGNED-PAYLOAD' };
    socket.write(signedHead(request, size).head);
    const reading = readAnswer(socket, 'PUT');
    const piece = Buffer.alloc(big / 100, 'piece');
    for (let written = 0; written < size; written += piece.length) {
      if (!socket.write(piece)) await once(socket, 'drain');
    }
    assert.equal((await reading).status, 200);
  };
  await upload(big / 10);
  const growth = await peakGrowth(() => upload(big));
  assert.ok(growth < 100 * 1024 * 1024, `memory grew by ${growth}`);
});
