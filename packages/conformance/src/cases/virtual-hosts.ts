// Buckets named by the host instead of by the path.
import assert from 'node:assert/strict';
import type { Case } from '../case.ts';
import type { Target } from '../target.ts';

function bucketHost(target: Target): string {
  const { port } = new URL(target.site.endpoint);
  return `${target.bucket}.${target.domain ?? ''}:${port}`;
}

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
    },
  },
];
