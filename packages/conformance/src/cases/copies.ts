// Copies: new objects over old bytes, also over keys that were cached before.
import assert from 'node:assert/strict';
import { CopyObjectCommand } from '@aws-sdk/client-s3';
import type { Case } from '../case.ts';
import { encodeKey } from '../signed-request.ts';
import { assertRefused, md5Tag, patternBytes } from '../target.ts';
import type { Target } from '../target.ts';

function source(target: Target, key: string): string {
  return `${target.bucket}/${encodeKey(key)}`;
}

export const copyCases: readonly Case[] = [
  {
    name: 'a copy over a cached key is read at once, with its metadata',
    run: async (target) => {
      const from = target.freshKey('odd name +%/../x');
      const to = target.freshKey();
      const body = patternBytes(300_000, 'copied');
      await target.put(from, body, { ContentType: 'text/x-copied', Metadata: { kept: 'yes' } });
      await target.put(to, 'old and cached');
      await target.getRepeatedly(to, 'old and cached');
      const { CopyObjectResult } = await target.client.send(
        new CopyObjectCommand({
          Bucket: target.bucket,
          Key: to,
          CopySource: source(target, from),
        }),
      );
      assert.equal(CopyObjectResult?.ETag, md5Tag(body));
      const { output } = await target.getRepeatedly(to, body);
      assert.equal(output.ContentType, 'text/x-copied');
      assert.equal(output.Metadata?.['kept'], 'yes');
      await target.getRepeatedly(from, body);
    },
  },
  {
    name: 'a copy onto itself with REPLACE changes the metadata alone',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'same bytes', { Metadata: { version: 'one' } });
      await target.getRepeatedly(key, 'same bytes');
      await target.client.send(
        new CopyObjectCommand({
          Bucket: target.bucket,
          Key: key,
          CopySource: source(target, key),
          MetadataDirective: 'REPLACE',
          ContentType: 'text/x-new',
          Metadata: { version: 'two' },
        }),
      );
      const { output } = await target.getRepeatedly(key, 'same bytes');
      assert.equal(output.Metadata?.['version'], 'two');
      assert.equal(output.ContentType, 'text/x-new');
    },
  },
  {
    name: 'a copy onto itself that changes nothing is an InvalidRequest',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'x');
      const sent = target.client.send(
        new CopyObjectCommand({
          Bucket: target.bucket,
          Key: key,
          CopySource: source(target, key),
        }),
      );
      await assertRefused(sent, 400, 'InvalidRequest');
    },
  },
  {
    name: 'a copy with a condition on its source that fails changes nothing',
    run: async (target) => {
      const from = target.freshKey();
      const to = target.freshKey();
      await target.put(from, 'new');
      await target.put(to, 'old');
      await target.getRepeatedly(to, 'old');
      for (const condition of [
        { CopySourceIfMatch: md5Tag('other') },
        { CopySourceIfNoneMatch: md5Tag('new') },
        { CopySourceIfUnmodifiedSince: new Date(Date.now() - 3_600_000) },
      ]) {
        const sent = target.client.send(
          new CopyObjectCommand({
            Bucket: target.bucket,
            Key: to,
            CopySource: source(target, from),
            ...condition,
          }),
        );
        await assertRefused(sent, 412, 'PreconditionFailed');
      }
      await target.getRepeatedly(to, 'old');
    },
  },
  {
    name: 'a copy of a missing key is a NoSuchKey',
    run: async (target) => {
      const sent = target.client.send(
        new CopyObjectCommand({
          Bucket: target.bucket,
          Key: target.freshKey(),
          CopySource: source(target, 'never-there'),
        }),
      );
      await assertRefused(sent, 404, 'NoSuchKey');
    },
  },
];
