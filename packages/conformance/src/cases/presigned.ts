// Presigned URLs: read, write and look with nothing but the URL.
import assert from 'node:assert/strict';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Case } from '../case.ts';
import { exchange } from '../signed-request.ts';
import type { RawAnswer } from '../signed-request.ts';
import { assertErrorDocument, makeClient, patternBytes } from '../target.ts';
import type { Target } from '../target.ts';

function use(
  target: Target,
  method: string,
  url: string,
  body = Buffer.alloc(0),
  headers: readonly (readonly [string, string])[] = [],
): Promise<RawAnswer> {
  const { host, pathname, search } = new URL(url);
  const length: [string, string][] =
    method === 'PUT' ? [['content-length', String(body.length)]] : [];
  return exchange(
    target.site.endpoint,
    method,
    pathname + search,
    [['host', host], ...length, ...headers],
    body,
  );
}

export const presignedCases: readonly Case[] = [
  {
    name: 'a presigned GET reads, whole and in ranges, again and again',
    run: async (target) => {
      const key = target.freshKey('with space');
      const body = patternBytes(100_000, key);
      await target.put(key, body);
      const url = await getSignedUrl(
        target.client,
        new GetObjectCommand({ Bucket: target.bucket, Key: key }),
      );
      for (let read = 0; read < 3; read++) {
        const whole = await use(target, 'GET', url);
        assert.equal(whole.status, 200, whole.body.toString());
        assert.ok(whole.body.equals(body));
        const part = await use(target, 'GET', url, undefined, [['range', 'bytes=10-19']]);
        assert.equal(part.status, 206);
        assert.ok(part.body.equals(body.subarray(10, 20)));
      }
    },
  },
  {
    name: 'a presigned HEAD looks',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'look');
      const url = await getSignedUrl(
        target.client,
        new HeadObjectCommand({ Bucket: target.bucket, Key: key }),
      );
      const answer = await use(target, 'HEAD', url);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-length'), '4');
    },
  },
  {
    name: 'a presigned PUT writes over a cached key',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'old');
      await target.getRepeatedly(key, 'old');
      // A URL for any body: by default the SDK would fix the checksum of an empty one in it.
      const client = makeClient(target.site, { requestChecksumCalculation: 'WHEN_REQUIRED' });
      const url = await getSignedUrl(
        client,
        new PutObjectCommand({ Bucket: target.bucket, Key: key }),
      );
      client.destroy();
      const body = Buffer.from('written by URL');
      const answer = await use(target, 'PUT', url, body);
      assert.equal(answer.status, 200, answer.body.toString());
      await target.getRepeatedly(key, body);
    },
  },
  {
    name: 'a presigned URL keeps its response overrides and cannot be given others',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'override', { ContentType: 'text/plain' });
      const url = await getSignedUrl(
        target.client,
        new GetObjectCommand({
          Bucket: target.bucket,
          Key: key,
          ResponseContentType: 'text/x-signed',
        }),
      );
      const answer = await use(target, 'GET', url);
      assert.equal(answer.headers.get('content-type'), 'text/x-signed');
      const changed = await use(target, 'GET', url.replace('x-signed', 'x-forged'));
      assertErrorDocument(changed, 403, 'SignatureDoesNotMatch');
    },
  },
  {
    name: 'a presigned URL opens no other key',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'open');
      await target.put(`${key}2`, 'closed');
      const url = await getSignedUrl(
        target.client,
        new GetObjectCommand({ Bucket: target.bucket, Key: key }),
      );
      const answer = await use(target, 'GET', url.replace(`${key}?`, `${key}2?`));
      assertErrorDocument(answer, 403, 'SignatureDoesNotMatch');
    },
  },
  {
    name: 'an expired presigned URL is AccessDenied',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'x');
      const url = await getSignedUrl(
        target.client,
        new GetObjectCommand({ Bucket: target.bucket, Key: key }),
        { expiresIn: 60, signingDate: new Date(Date.now() - 120_000) },
      );
      assertErrorDocument(await use(target, 'GET', url), 403, 'AccessDenied');
    },
  },
  {
    name: 'an unsigned x-amz-copy-source on a presigned PUT is refused',
    run: async (target) => {
      const secret = target.freshKey();
      const key = target.freshKey();
      await target.put(secret, 'not yours');
      const url = await getSignedUrl(
        target.client,
        new PutObjectCommand({ Bucket: target.bucket, Key: key }),
      );
      const answer = await use(target, 'PUT', url, Buffer.alloc(0), [
        ['x-amz-copy-source', `/${target.bucket}/${secret}`],
      ]);
      assert.equal(answer.status, 403, answer.body.toString());
    },
  },
];
