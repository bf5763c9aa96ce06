import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuery } from '@s3-accelerator/core/s3/query.ts';
import { splitTarget } from '@s3-accelerator/core/s3/object-key.ts';
import { GrantSet } from '../auth/grants.ts';
import { headerValue } from '../http/raw-headers.ts';
import { prepareForward } from './passed-request.ts';
import type { PassedRequest, PreparedForward } from './passed-request.ts';

function passed(changes: Partial<PassedRequest>): PassedRequest {
  const target = changes.target ?? '/data/k';
  return {
    method: 'PUT',
    operation: 'PutObject',
    bucket: 'data',
    key: 'k',
    target,
    isVirtualHost: false,
    parameters: parseQuery(splitTarget(target).query) ?? [],
    headers: [],
    grants: new GrantSet([]),
    isReported: false,
    success: null,
    presigned: false,
    payload: 'unsigned',
    contentLength: 0,
    ...changes,
  };
}

function prepared(changes: Partial<PassedRequest>): PreparedForward {
  const result = prepareForward(passed(changes));
  assert.ok(typeof result !== 'string');
  return result;
}

test('a virtual-host target gets its bucket in front, and keeps every other byte', () => {
  const target = '//a/../%2f+?x=/y';
  assert.equal(prepared({ target, isVirtualHost: true }).request.target, `/data${target}`);
  assert.equal(
    prepared({ target: '/?list-type=2', isVirtualHost: true }).request.target,
    '/data/?list-type=2',
  );
});

test('a separator of other query readers is spelled out, wherever it stands', () => {
  const { request } = prepared({
    method: 'GET',
    target: '/data?list-type=2&prefix=a;prefix=b+c&x-id=d;e',
  });
  assert.equal(request.target, '/data?list-type=2&prefix=a%3Bprefix=b%20c&x-id=d%3Be');
  const one = prepared({ method: 'GET', target: '/data/k;k?versionId=1;acl' }).request;
  assert.equal(one.target, '/data/k;k?versionId=1%3Bacl');
});

test('headers that a presigned URL carries in its query become headers, its signature does not', () => {
  const target =
    '/data/k?x-id=PutObject&X-Amz-Acl=private&x-amz-meta-a=b%20c&X-Amz-Signature=s&X-Amz-Date=d';
  const { headers } = prepared({ target, presigned: true, headers: ['x-amz-acl', 'sent'] }).request;
  assert.equal(headerValue(headers, 'x-amz-acl'), 'sent');
  assert.equal(headerValue(headers, 'x-amz-meta-a'), 'b c');
  assert.equal(headers.length, 4);
  assert.deepEqual(prepared({ target, presigned: false }).request.headers, []);
});

test('a hoisted header that could end its line is left out', () => {
  const target = '/data/k?x-amz-meta-a=b%0d%0aX-Evil:1&x-amz-meta-%0a=1';
  assert.deepEqual(prepared({ target, presigned: true }).request.headers, []);
});

test('a body is announced where one is expected, also an empty one', () => {
  assert.equal(prepared({ method: 'PUT' }).request.bodyLength, 0);
  assert.equal(prepared({ method: 'GET' }).request.bodyLength, null);
  assert.equal(prepared({ method: 'DELETE' }).request.bodyLength, null);
  assert.equal(prepared({ contentLength: 7 }).request.bodyLength, 7);
});

test('a length that nobody knows is refused', () => {
  assert.equal(prepareForward(passed({ contentLength: null })), 'MissingContentLength');
  assert.equal(prepareForward(passed({ payload: 'signedChunks' })), 'MissingContentLength');
});

test('aws-chunked never stays in Content-Encoding, framed or not', () => {
  for (const [said, kept] of [
    ['aws-chunked', ''],
    ['aws-chunked, gzip', 'gzip'],
    ['gzip,AWS-Chunked,br', 'gzip,br'],
    ['gzip', 'gzip'],
  ] as const) {
    const headers = ['Content-Encoding', said, 'x-amz-decoded-content-length', '5'];
    for (const payload of ['unsigned', 'signedChunks'] as const) {
      const { request } = prepared({ payload, headers });
      assert.equal(headerValue(request.headers, 'content-encoding'), kept);
    }
  }
});

test('a trailing checksum is announced anew, one that is not known is refused', () => {
  const headers = ['x-amz-decoded-content-length', '5', 'X-Amz-Trailer', 'X-Amz-Checksum-Crc32'];
  const { request, length, trailer } = prepared({ payload: 'unsignedTrailer', headers });
  assert.deepEqual([length, trailer], [5, 'x-amz-checksum-crc32']);
  assert.equal(headerValue(request.headers, 'x-amz-trailer'), 'x-amz-checksum-crc32');
  assert.equal(
    headerValue(request.headers, 'x-amz-content-sha256'),
    'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  );
  const unknown = ['x-amz-decoded-content-length', '5', 'x-amz-trailer', 'x-amz-meta-a'];
  assert.equal(
    prepareForward(passed({ payload: 'unsignedTrailer', headers: unknown })),
    'InvalidRequest',
  );
});

test('a plus in the prefix of a listing reaches the origin as the space it was authorised as', () => {
  const target = '/data?list-type=2&prefix=a+b%2B&delimiter=+';
  assert.equal(
    prepared({ method: 'GET', operation: 'ListObjectsV2', key: '', target }).request.target,
    '/data?list-type=2&prefix=a%20b%2B&delimiter=+',
  );
});
