import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  CopyObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { startMemoryS3 } from './memory-s3.ts';
import type { MemoryS3 } from './memory-s3.ts';

const size = 300_000;
let s3: MemoryS3;
let client: S3Client;
let url: string;

before(async () => {
  s3 = await startMemoryS3({ buckets: ['bucket'] });
  client = new S3Client({
    endpoint: s3.endpoint,
    region: s3.region,
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: 'local-identity', secretAccessKey: 'local-credential' },
  });
  s3.put('bucket', 'k', Buffer.alloc(size, 1));
  url = await getSignedUrl(client, new GetObjectCommand({ Bucket: 'bucket', Key: 'k' }));
});
after(async () => {
  client.destroy();
  await s3.close();
});
beforeEach(() => {
  s3.traffic.clear();
  s3.faults.clear();
  s3.faults.set({
    delayMs: 0,
    bandwidthBytesPerSecond: Infinity,
    errorRate: 0,
    shortBodyRate: 0,
  });
});

interface Outcome {
  readonly status: number | null;
  readonly promised: number;
  readonly received: number;
  readonly broken: boolean;
}

/** A GET on a connection of its own, and how far it got. */
function get(stopAfterSilenceMs = 5000): Promise<Outcome> {
  return new Promise((resolve) => {
    const outgoing = request(url, { agent: false }, (incoming) => {
      let received = 0;
      const end = (broken: boolean): void => {
        resolve({
          status: incoming.statusCode ?? null,
          promised: Number(incoming.headers['content-length']),
          received,
          broken,
        });
      };
      incoming.on('data', (bytes: Buffer) => (received += bytes.length));
      incoming.on('error', () => end(true));
      incoming.on('end', () => end(false));
      outgoing.setTimeout(stopAfterSilenceMs, () => outgoing.destroy());
    });
    outgoing.on('error', () => resolve({ status: null, promised: 0, received: 0, broken: true }));
    outgoing.end();
  });
}

test('a lined-up error answers once and does nothing', async () => {
  s3.faults.next('slow-down', { operation: 'PutObject' });
  const put = new PutObjectCommand({ Bucket: 'bucket', Key: 'written', Body: 'x' });
  assert.equal((await get()).status, 200);
  await assert.rejects(client.send(put), { name: 'SlowDown' });
  assert.equal(s3.get('bucket', 'written'), null);
  await client.send(put);
  s3.faults.next('internal-error');
  assert.equal((await get()).status, 500);
});

test('a reset before does nothing, a reset after has done it', async () => {
  for (const [kind, stored] of [
    ['reset-before', false],
    ['reset-after', true],
  ] as const) {
    s3.faults.next(kind, { operation: 'PutObject' });
    const Key = `by ${kind}`;
    await assert.rejects(client.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body: 'x' })));
    assert.equal(s3.get('bucket', Key) !== null, stored, kind);
  }
});

test('a short body promises all and sends half, an empty body sends nothing', async () => {
  s3.faults.next('short-body');
  const short = await get();
  assert.deepEqual(short, { status: 200, promised: size, received: size / 2, broken: true });
  s3.faults.next('empty-body');
  const empty = await get();
  assert.deepEqual(empty, { status: 200, promised: size, received: 0, broken: true });
  assert.equal((await get()).received, size);
});

test('a stall sends half and keeps the connection open', async () => {
  s3.faults.next('stall');
  const started = performance.now();
  const stalled = await get(200);
  assert.equal(stalled.received, size / 2);
  assert.ok(performance.now() - started >= 190);
});

test('a delay comes before the first byte', async () => {
  s3.faults.set({ delayMs: 60 });
  const started = performance.now();
  assert.equal((await get()).received, size);
  assert.ok(performance.now() - started >= 59);
});

test('bandwidth is limited for each answer', async () => {
  s3.faults.set({ bandwidthBytesPerSecond: size * 4 });
  const started = performance.now();
  const outcomes = await Promise.all([get(), get(), get()]);
  const ms = performance.now() - started;
  assert.ok(outcomes.every(({ received }) => received === size));
  assert.ok(ms >= 190, `${ms} ms for three answers of 250 ms`);
});

test('drawn faults repeat with their seed', async () => {
  const outcomes = async (): Promise<string> => {
    const own = await startMemoryS3({ seed: 7, errorRate: 0.5, buckets: ['bucket'] });
    const kinds = Array.from({ length: 40 }, () => {
      return own.faults.draw({ operation: 'GetObject', bucket: 'bucket', key: 'k' }) ?? 'none';
    });
    await own.close();
    return kinds.join(' ');
  };
  const first = await outcomes();
  assert.equal(await outcomes(), first);
  for (const kind of ['none', 'slow-down', 'internal-error', 'reset-before']) {
    assert.match(first, new RegExp(kind));
  }
});

test('a late error begins as a 200 and leaves the old object', async () => {
  s3.put('bucket', 'target', 'old');
  s3.faults.next('late-error', { operation: 'CopyObject' });
  const copy = new CopyObjectCommand({ Bucket: 'bucket', Key: 'target', CopySource: 'bucket/k' });
  await assert.rejects(client.send(copy), { name: 'InternalError' });
  assert.equal(s3.traffic.log.at(-1)?.status, 200);
  assert.equal(s3.get('bucket', 'target')?.bytes.toString(), 'old');
});

test('a late answer sends white space before the result of a completion', async () => {
  const at = { Bucket: 'bucket', Key: 'late' };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
  const { ETag, ChecksumCRC32 } = await client.send(
    new UploadPartCommand({ ...at, UploadId, PartNumber: 1, Body: 'part' }),
  );
  s3.faults.next('late-answer', { operation: 'CompleteMultipartUpload' });
  const result = await client.send(
    new CompleteMultipartUploadCommand({
      ...at,
      UploadId,
      MultipartUpload: { Parts: [{ PartNumber: 1, ETag, ChecksumCRC32 }] },
    }),
  );
  assert.match(result.ETag ?? '', /-1"$/);
  assert.equal(s3.get('bucket', 'late')?.bytes.toString(), 'part');
});
