// Keys are bytes: whatever a client may name is stored, read and listed as exactly that.
import assert from 'node:assert/strict';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { Case } from '../case.ts';
import { encodeKey } from '../signed-request.ts';
import { assertErrorDocument, md5Tag, patternBytes } from '../target.ts';
import type { Target } from '../target.ts';

const oddKeys: readonly (readonly [what: string, key: string])[] = [
  ['spaces and plus signs', 'odd/a b+c  d'],
  ['a leading slash', '/odd/leading'],
  ['two slashes in a row', 'odd//double'],
  ['a trailing slash', 'odd/trailing/'],
  ['dots as path segments', 'odd/./a/../b'],
  ['two dots at the end', 'odd/x/..'],
  ['percent signs', 'odd/100%/%2F%41'],
  ["the characters !*'()", "odd/!*'()"],
  ['delimiters of URLs', 'odd/a&b=c;d:e@f,g$h?i#j[k]'],
  ['quotes and angle brackets', 'odd/"<>\'`{}|\\^'],
  ['accents and other scripts', 'odd/žluťoučký-日本語-🚀'],
  ['combining characters that have a composed form', 'odd/e\u0301-é'],
  ['a tilde and other unreserved characters', 'odd/~a-b_c.d'],
];

export const keyCases: readonly Case[] = [
  ...oddKeys.map(([what, key]) => ({
    name: `a key with ${what} is read back under exactly that name`,
    run: async (target: Target) => {
      const body = Buffer.from(`bytes of ${key}`);
      await target.put(key, body);
      const read = await target.getRepeatedly(key, body);
      assert.equal(read.output.ETag, md5Tag(body));
      const listed = await target.client.send(
        new ListObjectsV2Command({ Bucket: target.bucket, Prefix: key, EncodingType: 'url' }),
      );
      const names = (listed.Contents ?? []).map((one) => {
        return decodeURIComponent((one.Key ?? '').replaceAll('+', ' '));
      });
      assert.deepEqual(names, [key]);
    },
  })),
  {
    name: 'keys that path normalising would merge stay apart',
    run: async (target) => {
      const keys = ['apart/k', 'apart//k', 'apart/k/', 'apart/./k', 'apart/x/../k', 'apart/%6B'];
      for (const key of keys) await target.put(key, `I am ${key}`);
      for (const key of keys) await target.getRepeatedly(key, `I am ${key}`);
    },
  },
  {
    name: 'a key of 1,024 bytes in three-byte characters works',
    run: async (target) => {
      const key = `k${'語'.repeat(341)}`;
      assert.equal(Buffer.byteLength(key), 1024);
      await target.put(key, 'long');
      await target.getRepeatedly(key, 'long');
    },
  },
  {
    name: 'a key of 1,025 bytes is refused as KeyTooLongError',
    run: async (target) => {
      const answer = await target.rawKey('PUT', 'k'.repeat(1025), { body: Buffer.from('x') });
      assertErrorDocument(answer, 400, 'KeyTooLongError');
    },
  },
  {
    name: 'every legal encoding of a key verifies and names the same object',
    run: async (target) => {
      const prefix = `/${target.bucket}/`;
      await target.put("encodings/a!(b)*'c.txt", 'same');
      for (const path of [
        "encodings/a!(b)*'c.txt",
        'encodings/a%21%28b%29%2A%27c.txt',
        'encodings/%61!(b)%2a%27c%2Etxt',
      ]) {
        const answer = await target.raw({ method: 'GET', target: prefix + path });
        assert.equal(answer.status, 200, path);
        assert.equal(answer.body.toString(), 'same');
      }
    },
  },
  {
    name: 'a key of zero bytes of content is read back',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, Buffer.alloc(0));
      const read = await target.getRepeatedly(key, Buffer.alloc(0));
      assert.equal(read.output.ContentLength, 0);
    },
  },
  ...[1, 4096, 32 * 1024, 100_000, 1024 * 1024, 3 * 1024 * 1024 + 7].map((size) => ({
    name: `an object of ${size} bytes is read back three times alike`,
    run: async (target: Target) => {
      const key = target.freshKey();
      const body = patternBytes(size, key);
      await target.put(key, body);
      const read = await target.getRepeatedly(key, body);
      assert.equal(read.output.ContentLength, size);
      const head = await target.rawRepeatedly({
        method: 'HEAD',
        target: `/${target.bucket}/${encodeKey(key)}`,
      });
      assert.equal(head.headers.get('content-length'), String(size));
      assert.equal(head.headers.get('etag'), md5Tag(body));
    },
  })),
];
