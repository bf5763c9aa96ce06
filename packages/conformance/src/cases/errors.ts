// Errors have S3's status, code and document, and carry a request id.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { Case } from '../case.ts';
import { exchange, sendSigned } from '../signed-request.ts';
import type { Site } from '../signed-request.ts';
import { assertErrorDocument, assertRefused, makeClient, refusal } from '../target.ts';
import type { Target } from '../target.ts';

async function warm(target: Target): Promise<string> {
  const key = target.freshKey();
  await target.put(key, 'warm');
  await target.getRepeatedly(key, 'warm');
  return key;
}

function withCredentials(target: Target, accessKeyId: string, secretAccessKey: string): Site {
  return { ...target.site, credentials: { accessKeyId, secretAccessKey } };
}

export const errorCases: readonly Case[] = [
  {
    name: 'a missing key is a NoSuchKey that names it',
    run: async (target) => {
      const answer = await target.rawKey('GET', 'never/there');
      assertErrorDocument(answer, 404, 'NoSuchKey');
      assert.match(answer.body.toString(), /never\/there/);
      const head = await target.rawKey('HEAD', 'never/there');
      assert.equal(head.status, 404);
      assert.equal(head.body.length, 0);
    },
  },
  {
    name: 'a missing bucket is a NoSuchBucket',
    run: async (target) => {
      const Bucket = 'no-such-bucket-anywhere';
      await assertRefused(
        target.client.send(new GetObjectCommand({ Bucket, Key: 'k' })),
        404,
        'NoSuchBucket',
      );
      await assertRefused(
        target.client.send(new ListObjectsV2Command({ Bucket })),
        404,
        'NoSuchBucket',
      );
    },
  },
  {
    name: 'a wrong secret is a SignatureDoesNotMatch, on a warm key too',
    run: async (target) => {
      const key = await warm(target);
      const site = withCredentials(target, target.site.credentials.accessKeyId, 'not-the-secret');
      const client = makeClient(site);
      const sent = client.send(new GetObjectCommand({ Bucket: target.bucket, Key: key }));
      const error = await refusal(sent);
      assert.equal(error.name, 'SignatureDoesNotMatch');
      assert.equal(error.$metadata.httpStatusCode, 403);
      assert.ok(error.$metadata.requestId !== undefined, 'an error carries a request id');
      client.destroy();
    },
  },
  {
    name: 'an unknown access key is an InvalidAccessKeyId, on a warm key too',
    run: async (target) => {
      const key = await warm(target);
      const site = withCredentials(target, 'NOBODYNOBODYNOBODY00', 'whatever');
      const answer = await sendSigned(site, { method: 'GET', target: `/${target.bucket}/${key}` });
      assertErrorDocument(answer, 403, 'InvalidAccessKeyId');
    },
  },
  {
    name: 'a request without a signature is AccessDenied, on a warm key too',
    run: async (target) => {
      const key = await warm(target);
      const { endpoint } = target.site;
      const host = ['host', new URL(endpoint).host] as const;
      const path = `/${target.bucket}/${key}`;
      const answer = await exchange(endpoint, 'GET', path, [host], Buffer.alloc(0));
      assertErrorDocument(answer, 403, 'AccessDenied');
    },
  },
  {
    name: 'a scope of another region is an AuthorizationHeaderMalformed that names the right one',
    run: async (target) => {
      const key = await warm(target);
      const site = { ...target.site, region: 'eu-nowhere-7' };
      const answer = await sendSigned(site, { method: 'GET', target: `/${target.bucket}/${key}` });
      assertErrorDocument(answer, 400, 'AuthorizationHeaderMalformed');
      assert.match(answer.body.toString(), new RegExp(`<Region>${target.site.region}</Region>`));
    },
  },
  {
    name: 'a clock that is off by twenty minutes is a RequestTimeTooSkewed',
    run: async (target) => {
      const key = await warm(target);
      for (const minutes of [-20, 20]) {
        const date = new Date(Date.now() + minutes * 60_000);
        const answer = await target.rawKey('GET', key, { date });
        assertErrorDocument(answer, 403, 'RequestTimeTooSkewed');
      }
    },
  },
  {
    name: 'a signed accept-encoding and other ordinary headers verify',
    run: async (target) => {
      const key = await warm(target);
      const answer = await target.rawKey('GET', key, {
        headers: [
          ['accept-encoding', 'gzip, deflate'],
          ['user-agent', 'some client/1.0'],
        ],
      });
      assert.equal(answer.status, 200);
      assert.equal(answer.body.toString(), 'warm');
    },
  },
  {
    name: 'an unsigned x-amz header beside a signature is refused',
    run: async (target) => {
      const key = await warm(target);
      const answer = await target.rawKey('PUT', key, {
        body: Buffer.from('x'),
        headers: [['x-amz-acl', 'public-read']],
        unsignedHeaders: ['x-amz-acl'],
      });
      assertErrorDocument(answer, 403, 'AccessDenied');
      await target.getRepeatedly(key, 'warm');
    },
  },
  {
    name: 'XML that is not well-formed is a MalformedXML',
    run: async (target) => {
      const body = Buffer.from('<Delete><Object><Key>k</Object>');
      const md5 = createHash('md5').update(body).digest('base64');
      const answer = await target.raw({
        method: 'POST',
        target: `/${target.bucket}?delete`,
        headers: [['content-md5', md5]],
        body,
      });
      assertErrorDocument(answer, 400, 'MalformedXML');
    },
  },
  {
    name: 'two slashes before the bucket name no bucket',
    run: async (target) => {
      const answer = await target.raw({ method: 'GET', target: `//${target.bucket}/x` });
      assert.ok(answer.status >= 400 && answer.status < 500, String(answer.status));
    },
  },
];
