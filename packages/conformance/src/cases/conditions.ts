// Conditional reads and writes: entity tags before dates, preconditions before ranges.
import assert from 'node:assert/strict';
import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Case } from '../case.ts';
import { assertErrorDocument, assertRefused, md5Tag } from '../target.ts';
import type { Target } from '../target.ts';
import type { RawAnswer } from '../signed-request.ts';

const hour = 3_600_000;
const past = new Date(Date.now() - hour).toUTCString();
const future = new Date(Date.now() + hour).toUTCString();
const body = Buffer.from('conditional');
const tag = md5Tag(body);
const otherTag = md5Tag('something else');

type Headers = readonly (readonly [string, string])[];

async function stored(target: Target): Promise<string> {
  const key = target.freshKey();
  await target.put(key, body, { CacheControl: 'max-age=60' });
  return key;
}

/** Reads three times with GET and once with HEAD; all have the same status. */
async function conditional(target: Target, headers: Headers, method = 'GET'): Promise<RawAnswer> {
  const key = await stored(target);
  const path = `/${target.bucket}/${key}`;
  // Warm: conditions must hold on hits too.
  await target.getRepeatedly(key, body);
  const head = await target.raw({ method: 'HEAD', target: path, headers });
  let answer: RawAnswer | null = null;
  for (let read = 0; read < 3; read++) {
    answer = await target.raw({ method, target: path, headers });
    assert.equal(answer.status, head.status, 'GET and HEAD agree');
  }
  return answer!;
}

const readConditions: readonly (readonly [name: string, headers: Headers, status: number])[] = [
  ['If-Match with the current tag reads', [['if-match', tag]], 200],
  ['If-Match with the tag and no quotes reads', [['if-match', tag.slice(1, -1)]], 200],
  ['If-Match in a list reads', [['if-match', `${otherTag}, ${tag}`]], 200],
  ['If-Match with a star reads', [['if-match', '*']], 200],
  ['If-Match with another tag fails', [['if-match', otherTag]], 412],
  ['If-None-Match with the current tag is not modified', [['if-none-match', tag]], 304],
  ['If-None-Match without quotes is not modified', [['if-none-match', tag.slice(1, -1)]], 304],
  ['If-None-Match with a weak tag is not modified', [['if-none-match', `W/${tag}`]], 304],
  ['If-None-Match in a list is not modified', [['if-none-match', `${otherTag}, ${tag}`]], 304],
  ['If-None-Match with a star is not modified', [['if-none-match', '*']], 304],
  ['If-None-Match with another tag reads', [['if-none-match', otherTag]], 200],
  ['If-Modified-Since before the write reads', [['if-modified-since', past]], 200],
  ['If-Unmodified-Since before the write fails', [['if-unmodified-since', past]], 412],
  ['If-Unmodified-Since after the write reads', [['if-unmodified-since', future]], 200],
  [
    'a matching If-Match wins over If-Unmodified-Since',
    [
      ['if-match', tag],
      ['if-unmodified-since', past],
    ],
    200,
  ],
  [
    'a matching If-None-Match wins over If-Modified-Since',
    [
      ['if-none-match', tag],
      ['if-modified-since', past],
    ],
    304,
  ],
  [
    'an unmatched If-None-Match wins over If-Modified-Since',
    [
      ['if-none-match', otherTag],
      ['if-modified-since', new Date(Date.now() - 1000).toUTCString()],
    ],
    200,
  ],
  [
    'a stale If-Match fails before a range is looked at',
    [
      ['if-match', otherTag],
      ['range', 'bytes=0-3'],
    ],
    412,
  ],
  [
    'a stale If-Match fails before a range that cannot be satisfied',
    [
      ['if-match', otherTag],
      ['range', 'bytes=1000-'],
    ],
    412,
  ],
  [
    'a matching If-None-Match wins over a range that cannot be satisfied',
    [
      ['if-none-match', tag],
      ['range', 'bytes=1000-'],
    ],
    304,
  ],
  [
    'a matching If-Match reads a range',
    [
      ['if-match', tag],
      ['range', 'bytes=0-3'],
    ],
    206,
  ],
];

export const conditionCases: readonly Case[] = [
  ...readConditions.map(([name, headers, status]) => ({
    name,
    run: async (target: Target) => {
      const answer = await conditional(target, headers);
      if (status === 412) assertErrorDocument(answer, 412, 'PreconditionFailed');
      assert.equal(answer.status, status);
      if (status === 200) assert.equal(answer.body.toString(), body.toString());
    },
  })),
  {
    name: 'a 304 carries the tag, the date and Cache-Control, and no body',
    run: async (target) => {
      const answer = await conditional(target, [['if-none-match', tag]]);
      assert.equal(answer.headers.get('etag'), tag);
      assert.equal(answer.headers.get('cache-control'), 'max-age=60');
      assert.ok(answer.headers.has('last-modified'));
      assert.equal(answer.body.length, 0);
    },
  },
  {
    name: 'If-Modified-Since with the date of the object is not modified',
    run: async (target) => {
      const key = await stored(target);
      const { output } = await target.getRepeatedly(key, body);
      const since = output.LastModified?.toUTCString() ?? '';
      const answer = await target.rawKey('GET', key, { headers: [['if-modified-since', since]] });
      assert.equal(answer.status, 304);
    },
  },
  {
    name: 'a write with If-None-Match: * succeeds once',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'first', { IfNoneMatch: '*' });
      await assertRefused(
        target.put(key, 'second', { IfNoneMatch: '*' }),
        412,
        'PreconditionFailed',
      );
      await target.getRepeatedly(key, 'first');
    },
  },
  {
    name: 'a write with If-Match replaces only the version it names',
    run: async (target) => {
      const key = target.freshKey();
      await target.put(key, 'first');
      await assertRefused(
        target.put(key, 'lost', { IfMatch: otherTag }),
        412,
        'PreconditionFailed',
      );
      await target.getRepeatedly(key, 'first');
      await target.put(key, 'second', { IfMatch: md5Tag('first') });
      await target.getRepeatedly(key, 'second');
    },
  },
  {
    name: 'a write with If-Match to a key that is missing is a NoSuchKey',
    run: async (target) => {
      const sent = target.client.send(
        new PutObjectCommand({
          Bucket: target.bucket,
          Key: target.freshKey(),
          Body: 'x',
          IfMatch: otherTag,
        }),
      );
      await assertRefused(sent, 404, 'NoSuchKey');
    },
  },
  {
    name: 'a delete with a stale If-Match leaves the object',
    run: async (target) => {
      const key = await stored(target);
      const sent = target.client.send(
        new DeleteObjectCommand({ Bucket: target.bucket, Key: key, IfMatch: otherTag }),
      );
      await assertRefused(sent, 412, 'PreconditionFailed');
      await target.getRepeatedly(key, body);
    },
  },
];
