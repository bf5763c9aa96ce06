import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import {
  S3Client,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { startMemoryS3 } from './memory-s3.ts';
import type { MemoryS3 } from './memory-s3.ts';
import { signedHead } from './testing/signed-head.ts';

let s3: MemoryS3;
let client: S3Client;

before(async () => {
  s3 = await startMemoryS3({ buckets: ['bucket'] });
  client = clientOf(s3);
});
after(async () => {
  client.destroy();
  await s3.close();
});
beforeEach(() => {
  s3.traffic.clear();
  s3.faults.clear();
});

function clientOf(
  server: MemoryS3,
  accessKeyId = 'local-identity',
  secret = 'local-credential',
): S3Client {
  return new S3Client({
    endpoint: server.endpoint,
    region: server.region,
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId, secretAccessKey: secret },
  });
}

async function read(key: string, range?: string): Promise<Buffer> {
  const { Body } = await client.send(
    new GetObjectCommand({
      Bucket: 'bucket',
      Key: key,
      ...(range === undefined ? {} : { Range: range }),
    }),
  );
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

/** Sends raw bytes and reads one answer, or until the server closes or is silent for too long. */
function exchangeRaw(port: number, text: string, silenceMs = 10_000): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text, 'latin1'));
    socket.setTimeout(silenceMs, () => socket.destroy());
    socket.on('data', (bytes) => {
      answer += bytes.toString('latin1');
      if (isWhole(answer)) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf('\r\n\r\n');
  if (headEnd < 0) return false;
  const length = /content-length: (\d+)/i.exec(answer.slice(0, headEnd))?.[1] ?? '0';
  return answer.length >= headEnd + 4 + Number(length);
}

test('objects put directly are read by clients and the other way round', async () => {
  const etag = s3.put('bucket', 'direct', 'hello', { 'Content-Type': 'text/plain' });
  const { Body, ETag, ContentType } = await client.send(
    new GetObjectCommand({ Bucket: 'bucket', Key: 'direct' }),
  );
  assert.equal(await Body?.transformToString(), 'hello');
  assert.equal(ETag, `"${etag}"`);
  assert.equal(ContentType, 'text/plain');
  await client.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'sent', Body: 'there' }));
  assert.equal(s3.get('bucket', 'sent')?.bytes.toString(), 'there');
  s3.delete('bucket', 'sent');
  assert.equal(s3.get('bucket', 'sent'), null);
});

test('an answer that has begun keeps sending the object it began with', async () => {
  s3.put('bucket', 'replaced', Buffer.alloc(1000, 1));
  const hold = s3.faults.hold({ operation: 'GetObject', key: 'replaced' });
  const reading = read('replaced');
  await hold.arrived;
  s3.put('bucket', 'replaced', Buffer.alloc(1000, 2));
  hold.release();
  assert.deepEqual(await reading, Buffer.alloc(1000, 1));
  assert.deepEqual(await read('replaced'), Buffer.alloc(1000, 2));
});

test('requests are counted and logged with their raw target, range and headers', async () => {
  s3.put('bucket', 'logged//x y', Buffer.alloc(100, 1));
  await read('logged//x y', 'bytes=10-19');
  assert.equal(s3.traffic.count('GetObject'), 1);
  assert.equal(s3.traffic.sent('GetObject'), 10);
  const [entry] = s3.traffic.log;
  assert.equal(entry?.target.split('?')[0], '/bucket/logged//x%20y');
  assert.equal(entry.range, 'bytes=10-19');
  assert.equal(entry.key, 'logged//x y');
  assert.equal(entry.status, 206);
  assert.ok(entry.headers.has('authorization'));
});

test('synthetic objects of any size are derived from name and offset', async () => {
  const size = 5 * 1024 ** 4;
  s3.putSynthetic('bucket', 'huge', size);
  const { ContentLength } = await client.send(
    new HeadObjectCommand({ Bucket: 'bucket', Key: 'huge' }),
  );
  assert.equal(ContentLength, size);
  const far = 3 * 1024 ** 4 + 12_345;
  const around = await read('huge', `bytes=${far}-${far + 9999}`);
  const inside = await read('huge', `bytes=${far + 777}-${far + 1776}`);
  assert.deepEqual(inside, around.subarray(777, 1777));
  // Lines begin with their own offset.
  const line = await read('huge', `bytes=${1024 ** 4}-${1024 ** 4 + 7}`);
  assert.equal(Number(line.readBigUInt64LE()), 1024 ** 4);
  s3.putSynthetic('bucket', 'other', size);
  assert.notDeepEqual(await read('other', `bytes=${far}-${far + 99}`), around.subarray(0, 100));
});

test('a PUT with the synthetic header and no body makes such an object over HTTP', async () => {
  const { answer } = await signedPut('/bucket/made', [['x-memory-s3-synthetic', '70000']]);
  assert.match(answer, /^HTTP\/1\.1 200 /);
  assert.equal((await read('made')).length, 70_000);
});

test('a discarding bucket hashes and counts what it does not keep', async () => {
  s3.createBucket('discarding', { discard: true });
  const body = Buffer.alloc(3_000_000, 7);
  const { ETag } = await client.send(
    new PutObjectCommand({ Bucket: 'discarding', Key: 'gone', Body: body }),
  );
  const kept = s3.put('bucket', 'same', body);
  assert.equal(ETag, `"${kept}"`);
  const head = await client.send(new HeadObjectCommand({ Bucket: 'discarding', Key: 'gone' }));
  assert.equal(head.ContentLength, 3_000_000);
  await assert.rejects(client.send(new GetObjectCommand({ Bucket: 'discarding', Key: 'gone' })), {
    name: 'NotImplemented',
  });
});

test('SSE-C objects are read with their key only', async () => {
  const key = Buffer.alloc(32, 5);
  const at = { Bucket: 'bucket', Key: 'encrypted' };
  const secret = { SSECustomerAlgorithm: 'AES256', SSECustomerKey: key.toString('base64') };
  await client.send(new PutObjectCommand({ ...at, Body: 'secret', ...secret }));
  const { Body } = await client.send(new GetObjectCommand({ ...at, ...secret }));
  assert.equal(await Body?.transformToString(), 'secret');
  await assert.rejects(client.send(new GetObjectCommand(at)), { name: 'InvalidRequest' });
  const other = { ...secret, SSECustomerKey: Buffer.alloc(32, 6).toString('base64') };
  await assert.rejects(client.send(new GetObjectCommand({ ...at, ...other })), {
    name: 'AccessDenied',
  });
});

test('several credentials work, and a temporary one needs its token', async () => {
  const own = await startMemoryS3({
    buckets: ['bucket'],
    credentials: [
      { accessKey: 'first', secretKey: 'one' },
      { accessKey: 'second', secretKey: 'two', sessionToken: 'token' },
    ],
  });
  try {
    own.put('bucket', 'k', 'v');
    const command = new GetObjectCommand({ Bucket: 'bucket', Key: 'k' });
    await clientOf(own, 'first', 'one').send(command);
    await assert.rejects(clientOf(own, 'second', 'two').send(command), { name: 'InvalidToken' });
    const temporary = new S3Client({
      endpoint: own.endpoint,
      region: own.region,
      forcePathStyle: true,
      credentials: { accessKeyId: 'second', secretAccessKey: 'two', sessionToken: 'token' },
    });
    await temporary.send(command);
    await assert.rejects(clientOf(own, 'third', 'x').send(command), { name: 'InvalidAccessKeyId' });
  } finally {
    await own.close();
  }
});

test('Expect: 100-continue is answered with the final status where the signature is wrong', async () => {
  const head = signedHead(s3, 'PUT', '/bucket/expected', [
    ['content-length', '5'],
    ['expect', '100-continue'],
  ]);
  const wrong = head.replace(/Signature=.{4}/, 'Signature=0000');
  const refused = await exchangeRaw(s3.port, wrong);
  assert.match(refused, /^HTTP\/1\.1 403 /);
  assert.match(refused, /connection: close/i);
  const asked = await exchangeRaw(s3.port, head);
  assert.equal(asked, 'HTTP/1.1 100 Continue\r\n\r\n');
});

test('an upload that ends early stores nothing', async () => {
  s3.put('bucket', 'early', 'before');
  const head = signedHead(s3, 'PUT', '/bucket/early', [['content-length', '100']]);
  await exchangeRaw(s3.port, `${head}only this much`, 100);
  assert.equal(s3.get('bucket', 'early')?.bytes.toString(), 'before');
});

test('ambiguous heads are refused and the connection is closed', async () => {
  for (const lines of [
    'Content-Length: 4\r\nTransfer-Encoding: chunked',
    'Content-Length: 4\r\nContent-Length: 5',
    'Content-Length : 4',
    'X-Folded: a\r\n b',
  ]) {
    const answer = await exchangeRaw(
      s3.port,
      `PUT /bucket/x HTTP/1.1\r\nHost: h\r\n${lines}\r\n\r\nabcd`,
    );
    assert.match(answer, /^HTTP\/1\.1 4\d\d /, lines);
  }
  assert.equal(s3.get('bucket', 'x'), null);
});

test('an absolute-form target works and its authority has to agree with Host', async () => {
  s3.put('bucket', 'absolute', 'found');
  const head = signedHead(s3, 'GET', '/bucket/absolute', []);
  const absolute = head.replace('GET /', `GET ${s3.endpoint}/`);
  assert.match(await exchangeRaw(s3.port, absolute), /^HTTP\/1\.1 200 .*found$/s);
  const other = head.replace('GET /', 'GET http://elsewhere/');
  assert.match(await exchangeRaw(s3.port, other), /^HTTP\/1\.1 400 /);
});

test('subresources that are not implemented are told apart from plain operations', async () => {
  const head = signedHead(s3, 'PUT', '/bucket?replication', [['content-length', '0']]);
  assert.match(await exchangeRaw(s3.port, head), /^HTTP\/1\.1 501 .*NotImplemented/s);
});

async function signedPut(
  target: string,
  headers: readonly (readonly [string, string])[],
): Promise<{ answer: string }> {
  const head = signedHead(s3, 'PUT', target, [['content-length', '0'], ...headers]);
  return { answer: await exchangeRaw(s3.port, head) };
}
