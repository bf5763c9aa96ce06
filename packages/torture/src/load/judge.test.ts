// The judge must be able to say no: each way in which an answer can be wrong.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from 's3-accelerator/testing/raw-connection.ts';
import { ObjectHistory, type Version } from '../origin/history.ts';
import { judge, type Wanted } from './judge.ts';

const size = 3000;

function objectWith(staleMs: number): ObjectHistory {
  return new ObjectHistory({ id: 7, bucket: 'bucket', key: 'key', staleMs });
}

/** An object whose one version was there from moment 0 on. */
function simple(): { object: ObjectHistory; version: Version } {
  const object = objectWith(0);
  const version = object.begin(0, size);
  object.done(0, version, 'behind the cache');
  return { object, version };
}

function answerOf(
  etag: string,
  body: Buffer,
  change: Partial<Answer> & { readonly range?: string; readonly promised?: number } = {},
): Answer {
  const headers = [
    ['etag', `"${etag}"`],
    ['content-length', String(change.promised ?? body.length)],
    ...(change.range === undefined ? [] : [['content-range', change.range]]),
  ].map(([name = '', value = '']) => [name, value] as const);
  const header = (name: string): string => headers.find(([one]) => one === name)?.[1] ?? '';
  return { status: 200, headers, headerLines: [], body, isCut: false, header, ...change };
}

function kindOf(wanted: Wanted, change: (bytes: Buffer, etag: string) => Answer): string {
  const { object, version } = simple();
  const bytes = Buffer.from(object.contentOf(version));
  return judge(object, object.possible(0, 1), wanted, change(bytes, version.etag)).kind;
}

test('the whole object under its ETag is right', () => {
  assert.equal(
    kindOf({ kind: 'whole' }, (bytes, etag) => answerOf(etag, bytes)),
    'right',
  );
});

test('one wrong byte is wrong, also in an answer that was cut', () => {
  for (const at of [0, 511, 512, size - 1]) {
    const flipped = (bytes: Buffer, etag: string): Answer => {
      bytes[at]! ^= 1;
      return answerOf(etag, bytes, { isCut: at === 0 });
    };
    assert.equal(kindOf({ kind: 'whole' }, flipped), 'wrong');
  }
});

test('a body that ends early is wrong if nobody says so, and short if the connection was cut', () => {
  const half = (isCut: boolean) => (bytes: Buffer, etag: string) =>
    answerOf(etag, bytes.subarray(0, 1000), { promised: size, isCut });
  assert.equal(kindOf({ kind: 'whole' }, half(false)), 'wrong');
  assert.equal(kindOf({ kind: 'whole' }, half(true)), 'short');
  const promisesLess = (bytes: Buffer, etag: string): Answer =>
    answerOf(etag, bytes.subarray(0, 1000));
  assert.equal(kindOf({ kind: 'whole' }, promisesLess), 'wrong');
});

test('ranges and suffixes are held against S3’s rules', () => {
  const part = (first: number, end: number) => (bytes: Buffer, etag: string) =>
    answerOf(etag, bytes.subarray(first, end), {
      status: 206,
      range: `bytes ${first}-${end - 1}/${size}`,
    });
  const range = { kind: 'range', first: 10, last: 19 } as const;
  assert.equal(kindOf(range, part(10, 20)), 'right');
  assert.equal(kindOf(range, part(11, 21)), 'wrong');
  assert.equal(kindOf({ kind: 'range', first: 2990, last: 9999 }, part(2990, size)), 'right');
  assert.equal(kindOf({ kind: 'suffix', length: 100 }, part(size - 100, size)), 'right');
  assert.equal(kindOf({ kind: 'suffix', length: 9999 }, part(0, size)), 'right');
  const refused = (_bytes: Buffer, etag: string): Answer =>
    answerOf(etag, Buffer.alloc(0), { status: 416 });
  assert.equal(kindOf({ kind: 'range', first: size, last: size }, refused), 'right');
  assert.equal(kindOf(range, refused), 'wrong');
});

test('errors of the server are short, all other statuses wrong', () => {
  const status = (code: number) => (): Answer => answerOf('', Buffer.alloc(0), { status: code });
  assert.equal(kindOf({ kind: 'whole' }, status(503)), 'short');
  assert.equal(kindOf({ kind: 'whole' }, status(404)), 'wrong');
  assert.equal(kindOf({ kind: 'whole' }, status(206)), 'wrong');
});

/** Which versions a read may have seen, by number. */
function seen(object: ObjectHistory, began: number, ended: number): number[] {
  return object.possible(began, ended).map(({ number }) => number);
}

test('a write behind the cache ends the former version after the bucket’s staleness', () => {
  const object = objectWith(300);
  object.done(0, object.begin(0, 10), 'behind the cache');
  object.done(1000, object.begin(999, 20), 'behind the cache');
  assert.deepEqual(seen(object, 900, 998), [1]);
  assert.deepEqual(seen(object, 900, 999), [2, 1]);
  assert.deepEqual(seen(object, 1300, 1300), [2, 1]);
  assert.deepEqual(seen(object, 1301, 1301), [2]);
});

test('a write through the gateway is seen by every read that begins after it', () => {
  const object = objectWith(300);
  object.done(0, object.begin(0, 10), 'behind the cache');
  object.done(1000, object.begin(990, 20), 'through the gateway');
  assert.deepEqual(seen(object, 995, 1100), [2, 1]);
  assert.deepEqual(seen(object, 1001, 1100), [2]);
});

test('a write without a known outcome leaves both versions, until the origin is asked', () => {
  for (const tookEffect of [false, true]) {
    const object = objectWith(0);
    const [first, second] = [object.begin(0, 100), object.begin(500, 200)];
    object.lost();
    assert.ok(!object.isWritable);
    assert.deepEqual(seen(object, 900, 900), [2, 1]);
    object.settle(1000, tookEffect ? second.etag : first.etag);
    assert.ok(object.isWritable);
    assert.deepEqual(seen(object, 1001, 1001), [tookEffect ? 2 : 1]);
  }
});

test('bytes of a version that no read can see any more are wrong', () => {
  const object = objectWith(0);
  const old = object.begin(0, size);
  object.done(0, old, 'behind the cache');
  object.done(10, object.begin(9, size), 'behind the cache');
  const answer = answerOf(old.etag, object.contentOf(old));
  assert.equal(judge(object, object.possible(5, 8), { kind: 'whole' }, answer).kind, 'right');
  const later = judge(object, object.possible(11, 12), { kind: 'whole' }, answer);
  assert.equal(later.kind, 'wrong');
});
