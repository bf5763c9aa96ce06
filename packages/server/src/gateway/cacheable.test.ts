import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { splitTarget } from '@s3-accelerator/core/s3/object-key.ts';
import { parseQuery } from '@s3-accelerator/core/s3/query.ts';
import type { Operation } from '../auth/operation.ts';
import { RequestHead } from '../http/request-head.ts';
import { newHeadProgress, RequestParser } from '../http/request-parser.ts';
import { isCacheable } from './cacheable.ts';

function isCached(operation: Operation, target: string, ...headers: string[]): boolean {
  const lines = [`GET ${target} HTTP/1.1`, 'Host: h', ...headers, '', ''];
  const bytes = Buffer.from(lines.join('\r\n'), 'latin1');
  const parser = new RequestParser(new RequestHead());
  assert.equal(parser.parse(bytes, bytes, 0, bytes.length, newHeadProgress()), 'complete');
  const parameters = parseQuery(splitTarget(target).query) ?? [];
  return isCacheable(operation, parser.head, parameters);
}

const understood: readonly [string, string, ...string[]][] = [
  ['a plain read', '/bucket/key'],
  ['a range', '/bucket/key', 'Range: bytes=0-9'],
  ['conditions', '/bucket/key', 'If-None-Match: "tag"', 'If-Modified-Since: now'],
  ['what a presigned URL has', '/bucket/key?X-Amz-Date=1&X-Amz-Signature=2&x-amz-expires=3'],
  ['what an SDK adds to the query', '/bucket/key?x-id=GetObject'],
  ['headers that the answer takes from its request', '/bucket/key?response-content-type=text%2Fa'],
  ['checksums', '/bucket/key?x-amz-checksum-mode=ENABLED', 'x-amz-checksum-mode: ENABLED'],
  ['a signature', '/bucket/key', 'x-amz-date: d', 'x-amz-content-sha256: h', 'Authorization: a'],
  ['a session', '/bucket/key', 'x-amz-security-token: t', 'X-Amz-User-Agent: sdk'],
  ['the version of S3’s API', '/bucket/key', 'x-amz-date: d', 'x-amz-api-version: 2006-03-01'],
  ['an MD5 that may follow', '/bucket/key', 'X-Amz-TE: append-md5', 'x-amz-date: d'],
  ['a checksum of no body', '/bucket/key', 'x-amz-checksum-crc32: AAAAAA=='],
  ['headers of anybody', '/bucket/key', 'X-Trace: 1', 'Accept: */*'],
];

const passed: readonly [string, string, ...string[]][] = [
  ['an old version', '/bucket/key?versionId=v1'],
  ['an old version, beside what is understood', '/bucket/key?x-id=GetObject&versionId=v1'],
  ['a part', '/bucket/key?partNumber=1'],
  ['a subresource', '/bucket/key?tagging'],
  ['a parameter that nobody knows', '/bucket/key?unknown=1'],
  ['a range of a version that may be gone', '/bucket/key', 'If-Range: "tag"', 'Range: bytes=0-9'],
  ['a customer’s key', '/bucket/key', 'x-amz-server-side-encryption-customer-algorithm: AES256'],
  ['a customer’s key after a harmless header', '/bucket/key', 'x-amz-date: d', 'X-AMZ-Key: k'],
  ['who pays', '/bucket/key', 'x-amz-request-payer: requester'],
  ['whose bucket it has to be', '/bucket/key', 'x-amz-expected-bucket-owner: 1'],
  ['a name that is longer than a known one', '/bucket/key', 'x-amz-user-agents: 1'],
  ['another API', '/bucket/key', 'x-amz-api-version: 2006-03-02'],
  ['an API of no version', '/bucket/key', 'x-amz-api-version:'],
  ['an encoding that nobody knows', '/bucket/key', 'x-amz-te: append-md6'],
  ['a checksum of some body', '/bucket/key', 'x-amz-checksum-crc32: aaaaaa=='],
  ['a checksum that nobody knows', '/bucket/key', 'x-amz-checksum-md9: AAAAAA=='],
  ['a body', '/bucket/key', 'Content-Length: 1'],
];

for (const [what, target, ...headers] of understood) {
  test(`the cache may answer ${what}`, () => {
    assert.equal(isCached('GetObject', target, ...headers), true);
    assert.equal(isCached('HeadObject', target, ...headers), true);
  });
}

for (const [what, target, ...headers] of passed) {
  test(`S3 is asked for ${what}`, () => {
    assert.equal(isCached('GetObject', target, ...headers), false);
    assert.equal(isCached('HeadObject', target, ...headers), false);
  });
}

test('no other operation is answered by the cache', () => {
  for (const operation of ['ListObjectsV2', 'GetObjectTagging', 'GetObjectAttributes'] as const) {
    assert.equal(isCached(operation, '/bucket/key'), false);
  }
});

test('the checksums of no body are those of no body', () => {
  for (const algorithm of ['sha1', 'sha256']) {
    const value = createHash(algorithm).digest('base64');
    assert.equal(isCached('GetObject', '/b/k', `x-amz-checksum-${algorithm}: ${value}`), true);
  }
  for (const algorithm of ['crc32c', 'crc64nvme']) {
    const value = Buffer.alloc(algorithm === 'crc32c' ? 4 : 8).toString('base64');
    assert.equal(isCached('GetObject', '/b/k', `x-amz-checksum-${algorithm}: ${value}`), true);
  }
});
