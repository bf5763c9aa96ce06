import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Oracle } from './oracle.ts';
import { noConditions, type S3Read } from './request.ts';
import type { NewObject } from './version.ts';

const epochSeconds = 1_700_000_000;

function read(key: string, change: Partial<S3Read> = {}): S3Read {
  return { bucket: 'b', key, head: false, range: null, conditions: noConditions, ...change };
}

function object(oracle: Oracle, size: number, change: Partial<NewObject> = {}): NewObject {
  return { size, content: oracle.newContent(), parts: 0, isWeak: false, ...change };
}

void test('a key is missing, then what was put last, then missing again', () => {
  const oracle = new Oracle(epochSeconds);
  assert.equal(oracle.answer(read('k')).status, 404);
  const first = oracle.put(10, 'b', 'k', object(oracle, 5)).version!;
  const second = oracle.put(2020, 'b', 'k', object(oracle, 7)).version!;
  assert.equal(oracle.answer(read('k')).version, second);
  assert.equal(oracle.answer(read('k')).length, 7);
  assert.notEqual(first.etag, second.etag);
  assert.deepEqual([first.lastModified, second.lastModified], [epochSeconds, epochSeconds + 2]);
  oracle.delete(3000, 'b', 'k');
  assert.equal(oracle.answer(read('k')).code, 'NoSuchKey');
  const states = oracle.history('b', 'k').map(({ since, until }) => [since, until]);
  assert.deepEqual(states, [
    [-Infinity, 10],
    [10, 2020],
    [2020, 3000],
    [3000, Infinity],
  ]);
});

void test('the same bytes have the same ETag, other bytes or another way of storing them another one', () => {
  const oracle = new Oracle(epochSeconds);
  const bytes = object(oracle, 5);
  const etagOf = (change: Partial<NewObject>) =>
    oracle.put(1, 'b', 'k', { ...bytes, ...change }).version!.etag;
  assert.equal(etagOf({}), etagOf({}));
  const etags = [
    {},
    { size: 6 },
    { content: 77 },
    { parts: 1 },
    { parts: 2 },
    { isWeak: true },
  ].map(etagOf);
  assert.equal(new Set(etags).size, etags.length);
  assert.match(etags[4]!, /^"[0-9a-f]{32}-2"$/);
  assert.match(etags[5]!, /^W\/"[0-9a-f]{32}"$/);
});

void test('a copy has its source’s bytes, and an ETag of one upload', () => {
  const oracle = new Oracle(epochSeconds);
  const source = oracle.complete(1, 'b', 's', object(oracle, 50, { parts: 3 })).version!;
  const copy = oracle.copy(2, 'b', 'k', 'b', 's', 9).version!;
  assert.equal(copy.content, source.content);
  assert.equal(copy.size, source.size);
  assert.notEqual(copy.etag, source.etag);
  assert.equal(copy.write, 9);
  assert.equal(oracle.copy(3, 'b', 'k', 'b', 'missing').code, 'NoSuchKey');
  assert.equal(oracle.current('b', 'k'), copy);
});

void test('a multi-delete takes all its keys at one moment', () => {
  const oracle = new Oracle(epochSeconds);
  oracle.put(1, 'b', 'x', object(oracle, 1));
  oracle.put(1, 'b', 'y', object(oracle, 1));
  const gone = oracle.deleteAll(2, 'b', ['x', 'y', 'never'], 4);
  assert.deepEqual(
    gone.map(({ key, etag, since, write }) => [key, etag, since, write]),
    [
      ['x', '', 2, 4],
      ['y', '', 2, 4],
      ['never', '', 2, 4],
    ],
  );
});

void test('conditions of a write are checked against what is there', () => {
  const oracle = new Oracle(epochSeconds);
  const put = (ifMatch: string | null, ifNoneMatch: '*' | null) =>
    oracle.put(1, 'b', 'k', object(oracle, 1), -1, { ifMatch, ifNoneMatch }).status;
  assert.equal(put('"x"', null), 404);
  assert.equal(put(null, '*'), 200);
  assert.equal(put(null, '*'), 412);
  assert.equal(put('"x"', null), 412);
  assert.equal(put(oracle.current('b', 'k').etag, null), 200);
});

void test('what is missing comes first, then conditions, then the range', () => {
  const oracle = new Oracle(epochSeconds);
  const stale = { ...noConditions, ifMatch: '"stale"' };
  const beyond = { range: 'bytes=9-' };
  assert.equal(oracle.answer(read('k', { conditions: stale, ...beyond })).status, 404);
  const { etag } = oracle.put(1, 'b', 'k', object(oracle, 5)).version!;
  assert.equal(oracle.answer(read('k', { conditions: stale, ...beyond })).status, 412);
  const known = { ...noConditions, ifNoneMatch: etag };
  assert.equal(oracle.answer(read('k', { conditions: known, ...beyond })).status, 304);
  assert.equal(oracle.answer(read('k', beyond)).status, 416);
  const part = oracle.answer(read('k', { range: 'bytes=1-3', head: true }));
  assert.deepEqual([part.status, part.first, part.length], [206, 1, 3]);
});

void test('time never goes back', () => {
  const oracle = new Oracle(epochSeconds);
  oracle.delete(5, 'b', 'k');
  assert.throws(() => oracle.delete(4, 'b', 'other'), /time went back/);
});
