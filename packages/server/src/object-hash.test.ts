import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { ObjectHash } from './object-hash.ts';

const zero = { h0: 0, h1: 0, h2: 0, h3: 0 };

test('an object hash is the beginning of SHA-256 over the length-prefixed bucket and the key', () => {
  const into = { ...zero };
  new ObjectHash().object('bucket', 'a/\xff', into);
  const expected = createHash('sha256')
    .update(Buffer.from([0, 0, 0, 6]))
    .update(Buffer.from('bucketa/\xff', 'latin1'))
    .digest();
  assert.deepEqual(into, {
    h0: expected.readUInt32BE(0),
    h1: expected.readUInt32BE(4),
    h2: expected.readUInt32BE(8),
    h3: expected.readUInt32BE(12),
  });
});

test('the boundary between bucket and key is part of the hash', () => {
  const hash = new ObjectHash();
  const one = { ...zero };
  const other = { ...zero };
  hash.object('abc', 'def', one);
  hash.object('abcd', 'ef', other);
  assert.notDeepEqual(one, other);
});

test('a version depends on the object, the origin and the ETag, and on nothing else', () => {
  const at = (identity: string, etag: string, h0: number): object => {
    const into = { ...zero };
    new ObjectHash({ changes: 0, identity: () => identity }).version(
      'bucket',
      { ...zero, h0 },
      etag,
      into,
    );
    return into;
  };
  const base = at('http://a/b', '"1"', 1);
  assert.deepEqual(at('http://a/b', '"1"', 1), base);
  assert.notDeepEqual(at('http://a/c', '"1"', 1), base);
  assert.notDeepEqual(at('http://a/b', '"2"', 1), base);
  assert.notDeepEqual(at('http://a/b', '"1"', 2), base);
});

test('a hash that a peer claims is recomputed', () => {
  const hash = new ObjectHash();
  const into = { ...zero };
  hash.object('bucket', 'key', into);
  assert.equal(hash.objectHashMatches('bucket', 'key', into), true);
  assert.equal(hash.objectHashMatches('bucket', 'kez', into), false);
});
