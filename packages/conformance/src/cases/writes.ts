// Writes are seen by the next read, whatever was cached before.
import assert from 'node:assert/strict';
import { DeleteObjectCommand, DeleteObjectsCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import type { Case } from '../case.ts';
import { assertRefused, assertSameBytes, md5Tag, patternBytes } from '../target.ts';

export const writeCases: readonly Case[] = [
  {
    name: 'an overwritten object is read new at once',
    run: async (target) => {
      const key = target.freshKey();
      for (let version = 1; version <= 4; version++) {
        const body = patternBytes(200_000 + version, `version ${version}`);
        const put = await target.put(key, body);
        assert.equal(put.ETag, md5Tag(body));
        const { output } = await target.getRepeatedly(key, body);
        assert.equal(output.ETag, md5Tag(body));
      }
    },
  },
  {
    name: 'an object overwritten with the same length is read new at once',
    run: async (target) => {
      const key = target.freshKey();
      for (const text of ['aaaaaaaa', 'bbbbbbbb', 'cccccccc']) {
        await target.put(key, text, { Metadata: { text } });
        const { output } = await target.getRepeatedly(key, text);
        assert.equal(output.Metadata?.['text'], text);
      }
    },
  },
  {
    name: 'a range after an overwrite is of the new object',
    run: async (target) => {
      const key = target.freshKey();
      const older = patternBytes(2_500_000, 'older');
      const newer = patternBytes(2_500_000, 'newer');
      await target.put(key, older);
      await target.getRepeatedly(key, older);
      await target.put(key, newer);
      await target.getRepeatedly(key, newer.subarray(1_000_000, 1_100_000), {
        Range: 'bytes=1000000-1099999',
      });
    },
  },
  {
    name: 'a deleted object is a 404 at once, and deleting it again succeeds',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'short-lived');
      await target.getRepeatedly(key, 'short-lived');
      const remove = new DeleteObjectCommand({ Bucket: target.bucket, Key: key });
      const removed = await target.client.send(remove);
      assert.equal(removed.$metadata.httpStatusCode, 204);
      for (let read = 0; read < 3; read++) {
        await assertRefused(target.get(key), 404, 'NoSuchKey');
      }
      const again = await target.client.send(remove);
      assert.equal(again.$metadata.httpStatusCode, 204);
    },
  },
  {
    name: 'an object created after a 404 is there at once',
    run: async (target) => {
      const key = target.freshKey();
      await assertRefused(target.get(key), 404, 'NoSuchKey');
      await assertRefused(
        target.client.send(new HeadObjectCommand({ Bucket: target.bucket, Key: key })),
        404,
        'NotFound',
      );
      await target.put(key, 'here now');
      await target.getRepeatedly(key, 'here now');
    },
  },
  {
    name: 'a multi-delete removes every key it names and no other',
    run: async (target) => {
      const prefix = target.freshKey('many');
      const keys = ['/1', '/2 <&>', '/3/../x', '/žluť', '//5'].map((end) => prefix + end);
      for (const key of [...keys, `${prefix}/kept`]) {
        await target.put(key, key);
        await target.getRepeatedly(key, key);
      }
      const { Deleted } = await target.client.send(
        new DeleteObjectsCommand({
          Bucket: target.bucket,
          Delete: { Objects: [...keys, `${prefix}/never`].map((Key) => ({ Key })) },
        }),
      );
      assert.deepEqual(
        (Deleted ?? []).map((one) => one.Key ?? '').sort(),
        [...keys, `${prefix}/never`].sort(),
      );
      for (const key of keys) await assertRefused(target.get(key), 404, 'NoSuchKey');
      await target.getRepeatedly(`${prefix}/kept`, `${prefix}/kept`);
    },
  },
  {
    name: 'a quiet multi-delete names nothing',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'x');
      const { Deleted, Errors } = await target.client.send(
        new DeleteObjectsCommand({
          Bucket: target.bucket,
          Delete: { Objects: [{ Key: key }], Quiet: true },
        }),
      );
      assert.deepEqual(Deleted ?? [], []);
      assert.deepEqual(Errors ?? [], []);
      await assertRefused(target.get(key), 404, 'NoSuchKey');
    },
  },
  {
    name: 'readers during overwrites see one version or another, never a mixture',
    run: async (target) => {
      const key = target.freshKey();
      const versions = [1, 2, 3, 4, 5, 6].map((n) => patternBytes(1_500_000, `mixture ${n}`));
      await target.put(key, versions[0]!);
      let writing = true;
      const read = async (): Promise<void> => {
        while (writing) {
          const got = await target.get(key).catch(nullIfCut);
          if (got === null) continue;
          const { output, bytes } = got;
          const matching = versions.find((version) => md5Tag(version) === output.ETag);
          assert.ok(matching !== undefined, 'the tag is of one of the versions');
          assertSameBytes(bytes, matching, 'a read during overwrites');
        }
      };
      const readers = Promise.all([read(), read(), read()]);
      // What goes wrong with a reader is told at the end, not at a moment when nobody listens yet.
      readers.catch(() => undefined);
      try {
        for (const version of versions.slice(1)) {
          await target.put(key, version);
          await target.getRepeatedly(key, version);
        }
      } finally {
        writing = false;
        await readers;
      }
    },
  },
];

/** A cache may cut an answer off whose version is gone: its client sees that, and nothing was mixed. */
function nullIfCut(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ECONNRESET') return null;
  throw error;
}
