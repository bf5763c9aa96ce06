// Listings of objects and buckets.
import assert from 'node:assert/strict';
import {
  DeleteObjectCommand,
  GetBucketLocationCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3';
import type { ListObjectsV2CommandInput } from '@aws-sdk/client-s3';
import type { Case } from '../case.ts';
import { assertErrorDocument, assertRefused, md5Tag } from '../target.ts';
import type { Target } from '../target.ts';

const leaves = ['a', 'b/1', 'b/2', 'b/c/3', 'd', 'e/4', 'z é+ %'];

async function tree(target: Target): Promise<string> {
  const prefix = target.freshKey('tree/');
  for (const leaf of leaves) await target.put(prefix + leaf, leaf);
  return prefix;
}

interface Listed {
  keys: string[];
  prefixes: string[];
  pages: number;
}

/** All pages, names without the tree's own prefix. */
async function listAll(
  target: Target,
  prefix: string,
  input: Partial<ListObjectsV2CommandInput>,
): Promise<Listed> {
  const listed: Listed = { keys: [], prefixes: [], pages: 0 };
  let token: string | undefined;
  do {
    const page = await target.client.send(
      new ListObjectsV2Command({
        Bucket: target.bucket,
        Prefix: prefix,
        ...input,
        ...(token === undefined ? {} : { ContinuationToken: token }),
      }),
    );
    listed.keys.push(...(page.Contents ?? []).map((one) => one.Key?.slice(prefix.length) ?? ''));
    listed.prefixes.push(
      ...(page.CommonPrefixes ?? []).map((one) => one.Prefix?.slice(prefix.length) ?? ''),
    );
    assert.equal(page.KeyCount, (page.Contents?.length ?? 0) + (page.CommonPrefixes?.length ?? 0));
    token = page.NextContinuationToken;
    assert.equal(page.IsTruncated, token !== undefined);
    listed.pages++;
  } while (token !== undefined);
  return listed;
}

export const listingCases: readonly Case[] = [
  {
    name: 'a listing has every key in byte order, with size and tag',
    run: async (target) => {
      const prefix = await tree(target);
      assert.deepEqual((await listAll(target, prefix, {})).keys, leaves);
      const page = await target.client.send(
        new ListObjectsV2Command({ Bucket: target.bucket, Prefix: `${prefix}b/c` }),
      );
      assert.equal(page.Contents?.[0]?.Size, 5);
      assert.equal(page.Contents[0].ETag, md5Tag('b/c/3'));
    },
  },
  {
    name: 'a delimiter rolls keys up into common prefixes',
    run: async (target) => {
      const prefix = await tree(target);
      const { keys, prefixes } = await listAll(target, prefix, { Delimiter: '/' });
      assert.deepEqual(keys, ['a', 'd', 'z é+ %']);
      assert.deepEqual(prefixes, ['b/', 'e/']);
    },
  },
  {
    name: 'small pages continue where the last one ended, with and without a delimiter',
    run: async (target) => {
      const prefix = await tree(target);
      for (const size of [1, 2, 3]) {
        const plain = await listAll(target, prefix, { MaxKeys: size });
        assert.deepEqual(plain.keys, leaves);
        assert.equal(plain.pages, Math.ceil(leaves.length / size));
        const rolled = await listAll(target, prefix, { MaxKeys: size, Delimiter: '/' });
        assert.deepEqual(rolled.keys, ['a', 'd', 'z é+ %']);
        assert.deepEqual(rolled.prefixes, ['b/', 'e/']);
      }
    },
  },
  {
    name: 'start-after begins behind a key',
    run: async (target) => {
      const prefix = await tree(target);
      const { keys } = await listAll(target, prefix, { StartAfter: `${prefix}b/2` });
      assert.deepEqual(keys, leaves.slice(3));
    },
  },
  {
    name: 'the first version of listing pages by marker',
    run: async (target) => {
      const prefix = await tree(target);
      const keys: string[] = [];
      let marker = '';
      for (;;) {
        const page = await target.client.send(
          new ListObjectsCommand({
            Bucket: target.bucket,
            Prefix: prefix,
            MaxKeys: 3,
            Marker: marker,
          }),
        );
        keys.push(...(page.Contents ?? []).map((one) => one.Key?.slice(prefix.length) ?? ''));
        if (page.IsTruncated !== true) break;
        marker = page.Contents?.at(-1)?.Key ?? '';
      }
      assert.deepEqual(keys, leaves);
    },
  },
  {
    name: 'the first version of listing names the next marker under a delimiter',
    run: async (target) => {
      const prefix = await tree(target);
      const input = { Bucket: target.bucket, Prefix: prefix, Delimiter: '/' };
      const first = await target.client.send(new ListObjectsCommand({ ...input, MaxKeys: 2 }));
      assert.equal(first.NextMarker, `${prefix}b/`);
      const rest = await target.client.send(
        new ListObjectsCommand({ ...input, Marker: first.NextMarker }),
      );
      assert.deepEqual(
        rest.Contents?.map((one) => one.Key?.slice(prefix.length)),
        ['d', 'z é+ %'],
      );
      assert.deepEqual(
        rest.CommonPrefixes?.map((one) => one.Prefix?.slice(prefix.length)),
        ['e/'],
      );
    },
  },
  {
    name: 'encoding-type=url escapes what XML could not carry',
    run: async (target) => {
      const prefix = target.freshKey('control/');
      await target.put(`${prefix}a\u0001b<&>`, 'x');
      const page = await target.client.send(
        new ListObjectsV2Command({
          Bucket: target.bucket,
          Prefix: prefix,
          EncodingType: 'url',
        }),
      );
      assert.equal(page.EncodingType, 'url');
      const listed = decodeURIComponent(page.Contents?.[0]?.Key ?? '');
      assert.equal(listed, `${prefix}a\u0001b<&>`);
    },
  },
  {
    name: 'zero keys can be asked for, and a negative number is an InvalidArgument',
    run: async (target) => {
      const prefix = await tree(target);
      const page = await target.client.send(
        new ListObjectsV2Command({ Bucket: target.bucket, Prefix: prefix, MaxKeys: 0 }),
      );
      assert.equal(page.KeyCount, 0);
      assert.equal(page.IsTruncated, false);
      const answer = await target.raw({
        method: 'GET',
        target: `/${target.bucket}?list-type=2&max-keys=-1`,
      });
      assertErrorDocument(answer, 400, 'InvalidArgument');
    },
  },
  {
    name: 'a listing after a write and after a delete is the new one',
    run: async (target) => {
      const prefix = target.freshKey('fresh/');
      assert.deepEqual((await listAll(target, prefix, {})).keys, []);
      await target.put(`${prefix}x`, 'x');
      assert.deepEqual((await listAll(target, prefix, {})).keys, ['x']);
      await target.client.send(
        new DeleteObjectCommand({ Bucket: target.bucket, Key: `${prefix}x` }),
      );
      assert.deepEqual((await listAll(target, prefix, {})).keys, []);
    },
  },
  {
    name: 'the list of buckets has this one',
    run: async (target) => {
      const { Buckets } = await target.client.send(new ListBucketsCommand({}));
      assert.ok(Buckets?.some((bucket) => bucket.Name === target.bucket));
    },
  },
  {
    name: 'a bucket answers a HEAD and tells its location',
    run: async (target) => {
      const at = { Bucket: target.bucket };
      const head = await target.client.send(new HeadBucketCommand(at));
      assert.equal(head.$metadata.httpStatusCode, 200);
      const { $metadata } = await target.client.send(new GetBucketLocationCommand(at));
      assert.equal($metadata.httpStatusCode, 200);
      await assertRefused(
        target.client.send(new HeadBucketCommand({ Bucket: 'no-such-bucket-anywhere' })),
        404,
        'NotFound',
      );
    },
  },
];
