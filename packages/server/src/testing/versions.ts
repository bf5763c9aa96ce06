/** Objects that come in versions: bytes that tell which one they belong to, and reads that check it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { S3Client } from './s3-client.ts';

/** Bytes of one version, told apart at every 4 KiB. */
export function version(name: string, size: number): Buffer {
  const page = Buffer.alloc(4096, `${name}|`);
  const out = Buffer.alloc(size);
  for (let at = 0; at < size; at += page.length) {
    page.writeUInt32LE(at / page.length, 0);
    page.copy(out, at);
  }
  return out;
}

/** Reads until the object's blocks are on disk. */
export async function warm(client: S3Client, bucket: string, key: string): Promise<void> {
  for (let read = 0; read < 3; read++) {
    assert.equal((await client.get(bucket, key)).status, 200);
  }
}

/** Reads an object and asserts that it is exactly these bytes, under their ETag. */
export async function assertReads(
  client: S3Client,
  bucket: string,
  key: string,
  expected: Buffer,
): Promise<void> {
  const { status, body, header } = await client.get(bucket, key);
  assert.equal(status, 200);
  assert.ok(body.equals(expected), 'these are not the bytes of the expected version');
  assert.equal(header('etag'), `"${createHash('md5').update(expected).digest('hex')}"`);
}
