import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  bucketOfHost,
  formatCopySource,
  isBucketName,
  maxKeyBytes,
  parseCopySource,
  parsePath,
  pathOf,
  splitTarget,
} from './object-key.ts';
import { percentDecode, percentEncode, utf8ToBinary } from './percent-encoding.ts';

const binary = fc
  .uint8Array({ minLength: 1, maxLength: 40 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'));

function keyOf(path: string): string {
  const result = parsePath(path);
  assert.ok(result.ok, path);
  return result.resource.key;
}

/** Any legal spelling of a key: each byte raw where a target may hold it, or as %XX in either case. */
const spelled = binary.chain((key) =>
  fc
    .array(fc.constantFrom('raw', 'lower', 'upper'), {
      minLength: key.length,
      maxLength: key.length,
    })
    .map((styles) => {
      const raw = Array.from(key, (character) => character).map((character, index) => {
        const code = character.charCodeAt(0);
        const legal = code > 0x20 && code < 0x7f && !'%?#'.includes(character);
        if (styles[index] === 'raw' && legal) return character;
        const hex = code.toString(16).padStart(2, '0');
        return `%${styles[index] === 'lower' ? hex : hex.toUpperCase()}`;
      });
      return { key, raw: raw.join('') };
    }),
);

test('every spelling of a key names exactly that key', () => {
  fc.assert(
    fc.property(spelled, ({ key, raw }) => {
      assert.equal(keyOf(`/bucket/${raw}`), key);
    }),
  );
});

test('a resource reads back from its canonical path', () => {
  fc.assert(
    fc.property(binary, (key) => {
      const resource = { bucket: 'bucket', key };
      assert.deepEqual(parsePath(pathOf(resource)), { ok: true, resource });
    }),
  );
});

test('nothing in a path is normalised', () => {
  assert.equal(keyOf('/b-1//foo'), '/foo');
  assert.equal(keyOf('/b-1/foo'), 'foo');
  assert.equal(keyOf('/b-1/foo/'), 'foo/');
  assert.equal(keyOf('/b-1/a/%2e%2e/secret'), 'a/../secret');
  assert.equal(keyOf('/b-1/foo/../k'), 'foo/../k');
  assert.equal(keyOf('/b-1/x/.'), 'x/.');
  assert.equal(keyOf('/b-1///..'), '//..');
  assert.equal(keyOf('/b-1/a%252Fb'), 'a%2Fb');
  assert.equal(keyOf('/b-1/a%2Fb'), 'a/b');
  assert.equal(keyOf('/b-1/a+b'), 'a+b');
  assert.equal(keyOf("/b-1/!*()'"), "!*()'");
});

test('a bucket may be followed by a slash or by nothing, and the service is /', () => {
  for (const path of ['/bucket', '/bucket/']) {
    assert.deepEqual(parsePath(path), { ok: true, resource: { bucket: 'bucket', key: '' } });
  }
  assert.deepEqual(parsePath('/'), { ok: true, resource: { bucket: '', key: '' } });
  assert.equal(pathOf({ bucket: '', key: '' }), '/');
  assert.equal(pathOf({ bucket: 'bucket', key: '' }), '/bucket');
});

test('in virtual-host style the whole path is the key', () => {
  assert.deepEqual(parsePath('//a', 'bucket'), {
    ok: true,
    resource: { bucket: 'bucket', key: '/a' },
  });
  assert.deepEqual(parsePath('/', 'bucket'), {
    ok: true,
    resource: { bucket: 'bucket', key: '' },
  });
});

test('what can name no object is refused by its code', () => {
  assert.deepEqual(parsePath('bucket/key'), { ok: false, code: 'InvalidURI' });
  assert.deepEqual(parsePath('/bucket/%zz'), { ok: false, code: 'InvalidURI' });
  assert.deepEqual(parsePath('/bucket/%4'), { ok: false, code: 'InvalidURI' });
  assert.deepEqual(parsePath('/%/a'), { ok: false, code: 'InvalidURI' });
  assert.deepEqual(parsePath('/../a'), { ok: false, code: 'InvalidBucketName' });
  assert.deepEqual(parsePath('//a'), { ok: false, code: 'InvalidBucketName' });
  assert.deepEqual(parsePath('/a%2Fb/c'), { ok: false, code: 'InvalidBucketName' });
  const longest = 'k'.repeat(maxKeyBytes);
  assert.equal(keyOf(`/bucket/${longest}`), longest);
  assert.deepEqual(parsePath(`/bucket/${longest}k`), { ok: false, code: 'KeyTooLongError' });
});

test('a long key of three-byte characters is counted in bytes', () => {
  const key = utf8ToBinary('日'.repeat(341));
  assert.equal(keyOf(`/bucket/${percentEncode(key, true)}`), key);
  assert.equal(parsePath(`/bucket/${percentEncode(`${key}ab`, true)}`).ok, false);
});

test('bucket names', () => {
  for (const name of ['abc', 'a.b-c', '1bucket1', 'Old_Bucket', 'x'.repeat(63)]) {
    assert.equal(isBucketName(name), true, name);
  }
  for (const name of [
    'ab',
    '.ab',
    'ab.',
    '-ab',
    'ab-',
    'a..b',
    'a/b',
    'a b',
    'a\u00e9b',
    '...',
    'x'.repeat(64),
  ]) {
    assert.equal(isBucketName(name), false, name);
  }
});

test('the target is split at its first question mark', () => {
  assert.deepEqual(splitTarget('/b/k?a=1?2'), { path: '/b/k', query: 'a=1?2' });
  assert.deepEqual(splitTarget('/b/k'), { path: '/b/k', query: null });
  assert.deepEqual(splitTarget('/b/k%3Fa?'), { path: '/b/k%3Fa', query: '' });
});

test('a host under an own domain names a bucket', () => {
  const domains = ['s3.internal', 'localhost'];
  assert.equal(bucketOfHost('bucket.s3.internal', domains), 'bucket');
  assert.equal(bucketOfHost('My.Bucket.S3.internal:9000', domains), 'my.bucket');
  assert.equal(bucketOfHost('s3.internal:9000', domains), null);
  assert.equal(bucketOfHost('evils3.internal', domains), null);
  assert.equal(bucketOfHost('127.0.0.1:9000', domains), null);
  assert.equal(bucketOfHost('[::1]', domains), null);
  assert.equal(bucketOfHost('[::1]:9000', domains), null);
  assert.equal(bucketOfHost('.s3.internal', domains), '');
});

test('where domains lie within one another the longest counts, in any order', () => {
  for (const domains of [
    ['example.com', 's3.example.com'],
    ['s3.example.com', 'example.com'],
  ]) {
    assert.equal(bucketOfHost('a.b.s3.example.com', domains), 'a.b');
    assert.equal(bucketOfHost('s3.example.com:80', domains), null);
    assert.equal(bucketOfHost('a.b.example.com', domains), 'a.b');
  }
});

test('a copy source is decoded once and written canonically', () => {
  for (const header of ['bucket/a%20b+c', '/bucket/a%20b%2Bc', 'bucket%2Fa%20b+c']) {
    const source = parseCopySource(header);
    assert.deepEqual(source, { bucket: 'bucket', key: 'a b+c', versionId: null }, header);
    assert.equal(formatCopySource(source), '/bucket/a%20b%2Bc');
  }
  const versioned = parseCopySource('/bucket/k%3Fey?versionId=v%2F1');
  assert.deepEqual(versioned, { bucket: 'bucket', key: 'k?ey', versionId: 'v/1' });
  assert.equal(formatCopySource(versioned), '/bucket/k%3Fey?versionId=v%2F1');
  for (const header of [
    '',
    '/',
    'bucket',
    'bucket/',
    '/../key',
    'bucket/%zz',
    'bucket/key?acl',
    'bucket/key?versionId=1&acl',
    'arn:aws:s3:us-east-1:123456789012:accesspoint/a/object/b',
  ]) {
    assert.equal(parseCopySource(header), null, header);
  }
});

test('percent-encoding is undone by decoding, for all bytes', () => {
  fc.assert(
    fc.property(binary, fc.boolean(), (text, keepSlashes) => {
      assert.equal(percentDecode(percentEncode(text, keepSlashes)), text);
    }),
  );
});

test('text becomes its UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.equal(utf8ToBinary(text), Buffer.from(text, 'utf8').toString('latin1'));
    }),
  );
});
