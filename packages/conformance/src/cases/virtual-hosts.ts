// Buckets named by the host instead of by the path.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { CreateBucketCommand, DeleteBucketCommand } from '@aws-sdk/client-s3';
import type { Case } from '../case.ts';
import { encodeKey } from '../signed-request.ts';
import { assertErrorDocument, type Target } from '../target.ts';

function hostOf(target: Target, bucket: string): string {
  const { port } = new URL(target.site.endpoint);
  return `${bucket}.${target.domain ?? ''}:${port}`;
}

const bucketHost = (target: Target): string => hostOf(target, target.bucket);

export const virtualHostCases: readonly Case[] = [
  {
    name: 'a bucket named by the host and one named by the path are the same',
    run: async (target) => {
      const key = target.freshKey();
      const host = bucketHost(target);
      const body = Buffer.from('by host');
      const put = await target.raw({ method: 'PUT', target: `/${key}`, host, body });
      assert.equal(put.status, 200, put.body.toString());
      await target.getRepeatedly(key, body);
      const got = await target.rawRepeatedly({ method: 'GET', target: `/${key}`, host });
      assert.equal(got.body.toString(), 'by host');
      const gone = await target.raw({ method: 'DELETE', target: `/${key}`, host });
      assert.equal(gone.status, 204);
      assertErrorDocument(await target.rawKey('GET', key), 404, 'NoSuchKey');
    },
  },
  {
    name: 'the root of a bucket host lists the bucket',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'x');
      const host = bucketHost(target);
      const query = `/?list-type=2&prefix=${encodeURIComponent(key)}`;
      const listed = await target.raw({ method: 'GET', target: query, host });
      assert.equal(listed.status, 200);
      assert.match(listed.body.toString(), new RegExp(`<Key>${key}</Key>`));
      const head = await target.raw({ method: 'HEAD', target: '/', host });
      assert.equal(head.status, 200);
    },
  },
  {
    name: 'host names take capitals, and any port or none',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'any spelling');
      const name = `${target.bucket}.${target.domain ?? ''}`;
      for (const host of [name, `${name}:1`, `${name}:65535`, `${name.toUpperCase()}:80`]) {
        const got = await target.raw({ method: 'GET', target: `/${key}`, host });
        assert.equal(got.body.toString(), 'any spelling', host);
      }
    },
  },
  {
    name: 'below a bucket host the whole path is the key, byte for byte',
    run: async (target) => {
      const host = bucketHost(target);
      for (const suffix of ['/double//slash', './dot', '../up', 'a b+c', 'é%2F', 'end/']) {
        const key = target.freshKey(suffix);
        const body = Buffer.from(key);
        const path = `/${encodeKey(key)}`;
        const put = await target.raw({ method: 'PUT', target: path, host, body });
        assert.equal(put.status, 200, key);
        assert.deepEqual((await target.rawKey('GET', key)).body, body, key);
        const got = await target.raw({ method: 'GET', target: path, host });
        assert.deepEqual(got.body, body, key);
      }
      // What would be a bucket's name in path style is the beginning of a key here.
      const missing = await target.raw({ method: 'GET', target: `/${target.bucket}/x`, host });
      assertErrorDocument(missing, 404, 'NoSuchKey');
    },
  },
  {
    name: 'a bucket with dots in its name is named by the host too',
    run: async (target) => {
      const bucket = `dots.in.name-${randomBytes(6).toString('hex')}`;
      await target.client.send(new CreateBucketCommand({ Bucket: bucket }));
      const host = hostOf(target, bucket);
      const body = Buffer.from('dotted');
      const put = await target.raw({ method: 'PUT', target: '/key', host, body });
      assert.equal(put.status, 200, put.body.toString());
      const got = await target.rawRepeatedly({ method: 'GET', target: `/${bucket}/key` });
      assert.equal(got.body.toString(), 'dotted');
      await target.raw({ method: 'DELETE', target: '/key', host });
      await target.client.send(new DeleteBucketCommand({ Bucket: bucket }));
    },
  },
  {
    name: 'a signature for one bucket host is none for another',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'x');
      const host = bucketHost(target);
      const presented = hostOf(target, `other-${target.bucket}`);
      const raw = { method: 'GET', target: `/${key}`, host };
      assert.equal((await target.raw(raw)).status, 200);
      assertErrorDocument(await target.raw({ ...raw, presented }), 403, 'SignatureDoesNotMatch');
    },
  },
  {
    name: 'an absolute target names the same object by host and by path, if it agrees with Host',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'absolute');
      const host = bucketHost(target);
      const own = new URL(target.site.endpoint).host;
      for (const [authority, path] of [
        [host, `/${key}`],
        [host.toUpperCase(), `/${key}`],
        [own, `/${target.bucket}/${key}`],
      ] as const) {
        const raw = { method: 'GET', target: path, host: authority };
        const got = await target.raw({ ...raw, authority });
        assert.equal(got.body.toString(), 'absolute', authority);
        const refused = await target.raw({ ...raw, authority: `other-${authority}` });
        assert.equal(refused.status, 400, authority);
      }
    },
  },
];
