// Headers that are stored with objects come back as they were sent.
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import {
  DeleteObjectTaggingCommand,
  GetObjectTaggingCommand,
  PutObjectTaggingCommand,
} from '@aws-sdk/client-s3';
import type { Case } from '../case.ts';
import { assertErrorDocument } from '../target.ts';

export const headerCases: readonly Case[] = [
  {
    name: 'content headers and user metadata come back as they were sent',
    run: async (target) => {
      const key = target.freshKey();
      const expires = new Date('2031-05-06T07:08:09Z');
      await target.put(key, 'headers', {
        ContentType: 'text/csv; charset=utf-8',
        ContentDisposition: 'attachment; filename="a b.csv"',
        ContentLanguage: 'cs, en',
        CacheControl: 'private, max-age=3600',
        Expires: expires,
        Metadata: { 'first-name': 'Ada', empty: '', 'x-y_z': '1,2;3=4' },
      });
      const { output } = await target.getRepeatedly(key, 'headers');
      assert.equal(output.ContentType, 'text/csv; charset=utf-8');
      assert.equal(output.ContentDisposition, 'attachment; filename="a b.csv"');
      assert.equal(output.ContentLanguage, 'cs, en');
      assert.equal(output.CacheControl, 'private, max-age=3600');
      assert.equal(output.ExpiresString, expires.toUTCString());
      assert.equal(output.Metadata?.['first-name'], 'Ada');
      assert.equal(output.Metadata['x-y_z'], '1,2;3=4');
      assert.equal(output.AcceptRanges, 'bytes');
    },
  },
  {
    name: 'an object without a content type is binary/octet-stream',
    run: async (target) => {
      const key = target.freshKey();
      await target.rawKey('PUT', key, { body: Buffer.from('typeless') });
      const { output } = await target.getRepeatedly(key, 'typeless');
      assert.equal(output.ContentType, 'binary/octet-stream');
    },
  },
  {
    name: 'metadata with inner spaces is signed folded and stored as sent',
    run: async (target) => {
      const key = target.freshKey();
      const put = await target.rawKey('PUT', key, {
        body: Buffer.from('spaced'),
        headers: [['x-amz-meta-spaced', 'two  spaces']],
      });
      assert.equal(put.status, 200, put.body.toString());
      const answer = await target.rawRepeatedly({
        method: 'GET',
        target: `/${target.bucket}/${key}`,
      });
      assert.equal(answer.headers.get('x-amz-meta-spaced'), 'two  spaces');
    },
  },
  {
    name: 'metadata bytes above 127 come back unchanged',
    run: async (target) => {
      const key = target.freshKey();
      const value = Buffer.from('žluť-日本', 'utf8').toString('latin1');
      const put = await target.rawKey('PUT', key, {
        body: Buffer.from('bytes'),
        headers: [['x-amz-meta-bytes', value]],
      });
      assert.equal(put.status, 200, put.body.toString());
      const answer = await target.rawRepeatedly({
        method: 'GET',
        target: `/${target.bucket}/${key}`,
      });
      assert.equal(answer.headers.get('x-amz-meta-bytes'), value);
    },
  },
  {
    name: 'two kilobytes of user metadata are kept and more are refused',
    run: async (target) => {
      const key = target.freshKey();
      const largest = 'm'.repeat(2048 - 'big'.length);
      await target.put(key, 'metadata', { Metadata: { big: largest } });
      const { output } = await target.getRepeatedly(key, 'metadata');
      assert.equal(output.Metadata?.['big'], largest);
      const answer = await target.rawKey('PUT', key, {
        body: Buffer.from('x'),
        headers: [['x-amz-meta-big', `${largest}m`]],
      });
      assertErrorDocument(answer, 400, 'MetadataTooLarge');
    },
  },
  {
    name: 'an object stored as gzip is served as stored',
    run: async (target) => {
      const key = target.freshKey();
      const zipped = gzipSync('a text that was compressed by the client');
      await target.put(key, zipped, { ContentEncoding: 'gzip', ContentType: 'text/plain' });
      const { output } = await target.getRepeatedly(key, zipped);
      assert.equal(output.ContentEncoding, 'gzip');
      assert.equal(output.ContentLength, zipped.length);
    },
  },
  {
    name: 'response overrides apply to their own answer only',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'override me', { ContentType: 'text/plain' });
      for (let read = 0; read < 3; read++) {
        const { output } = await target.get(key, {
          ResponseContentType: 'application/x-other',
          ResponseContentDisposition: 'attachment; filename="x"',
          ResponseCacheControl: 'no-store',
          ResponseContentLanguage: 'de',
          ResponseContentEncoding: 'identity',
        });
        assert.equal(output.ContentType, 'application/x-other');
        assert.equal(output.ContentDisposition, 'attachment; filename="x"');
        assert.equal(output.CacheControl, 'no-store');
        assert.equal(output.ContentLanguage, 'de');
        const plain = await target.get(key);
        assert.equal(plain.output.ContentType, 'text/plain');
        assert.equal(plain.output.ContentDisposition, undefined);
        assert.equal(plain.output.CacheControl, undefined);
      }
    },
  },
  {
    name: 'headers above 8 KB are refused with an XML error',
    run: async (target) => {
      const answer = await target.rawKey('GET', target.freshKey(), {
        headers: [['x-amz-meta-huge', 'h'.repeat(9000)]],
      });
      assertErrorDocument(answer, 400, 'RequestHeaderSectionTooLarge');
    },
  },
  {
    name: 'tags are put, read and deleted without changing the object',
    run: async (target) => {
      const key = target.freshKey();
      const at = { Bucket: target.bucket, Key: key };
      await target.put(key, 'tagged', { Tagging: 'team=data&stage=a%20b' });
      const first = await target.client.send(new GetObjectTaggingCommand(at));
      assert.deepEqual(sorted(first.TagSet), [
        ['stage', 'a b'],
        ['team', 'data'],
      ]);
      const { output } = await target.getRepeatedly(key, 'tagged');
      assert.equal(output.TagCount, 2);
      await target.client.send(
        new PutObjectTaggingCommand({ ...at, Tagging: { TagSet: [{ Key: 'k', Value: '<v>' }] } }),
      );
      const second = await target.client.send(new GetObjectTaggingCommand(at));
      assert.deepEqual(sorted(second.TagSet), [['k', '<v>']]);
      await target.client.send(new DeleteObjectTaggingCommand(at));
      const third = await target.client.send(new GetObjectTaggingCommand(at));
      assert.deepEqual(sorted(third.TagSet), []);
      await target.getRepeatedly(key, 'tagged');
    },
  },
];

function sorted(
  tags: readonly { Key?: string | undefined; Value?: string | undefined }[] | undefined,
): string[][] {
  return (tags ?? []).map(({ Key, Value }) => [Key ?? '', Value ?? '']).sort();
}
