import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  accessKeyId,
  now,
  emptyHash,
  sigv4,
  type Headers,
  check,
  sign,
  amzDate,
} from './testing/signed-requests.ts';

describe('presigned', () => {
  const query = (changes: Readonly<Record<string, string | null>> = {}): Record<string, string> => {
    const all: Record<string, string | null> = {
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': `${accessKeyId}/20261129/us-east-1/s3/aws4_request`,
      'X-Amz-Date': amzDate,
      'X-Amz-Expires': '3600',
      'X-Amz-SignedHeaders': 'host',
      ...changes,
    };
    return Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null),
    );
  };

  function presign(
    changes: Readonly<Record<string, string | null>> = {},
    extra: {
      headers?: Headers;
      append?: string;
      hash?: string;
      method?: string;
      atMs?: number;
    } = {},
  ): string {
    const { headers = {}, append = '', hash = 'UNSIGNED-PAYLOAD', method = 'GET' } = extra;
    const own = query(changes);
    const canonicalQuery = Object.entries(own)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .sort()
      .join('&');
    const names = (own['X-Amz-SignedHeaders'] ?? 'host').split(';');
    const all: Headers = { host: 's3.test', ...headers };
    const signature = sign([
      method,
      '/b/k',
      canonicalQuery,
      ...names.map((name) => `${name}:${all[name] ?? ''}`),
      '',
      names.join(';'),
      hash,
    ]);
    return check(
      method,
      `/b/k?X-Amz-Signature=${signature}&${canonicalQuery}${append}`,
      all,
      extra.atMs ?? now,
    );
  }

  test('a URL is good for as long as it says, and not before its time', () => {
    assert.equal(presign(), accessKeyId);
    assert.equal(presign({}, { atMs: now + 3_600_000 }), accessKeyId);
    assert.equal(presign({}, { atMs: now + 3_601_000 }), 'AccessDenied');
    assert.equal(presign({}, { atMs: now - 901_000 }), 'AccessDenied');
    assert.equal(presign({ 'X-Amz-Expires': '604800' }, { atMs: now + 604_800_000 }), accessKeyId);
  });

  test('parameters that are wrong or missing', () => {
    for (const changes of [
      { 'X-Amz-Algorithm': 'AWS4-ECDSA-P256-SHA256' },
      { 'X-Amz-Algorithm': null },
      { 'X-Amz-Credential': null },
      { 'X-Amz-Credential': 'nonsense' },
      { 'X-Amz-Date': null },
      { 'X-Amz-Date': 'today' },
      { 'X-Amz-Date': '20261128T120000Z' },
      { 'X-Amz-Expires': null },
      { 'X-Amz-Expires': '0' },
      { 'X-Amz-Expires': '-1' },
      { 'X-Amz-Expires': '604801' },
      { 'X-Amz-Expires': '1e3' },
      { 'X-Amz-SignedHeaders': null },
    ]) {
      assert.equal(presign(changes), 'AuthorizationQueryParametersError', JSON.stringify(changes));
    }
    const region = `${accessKeyId}/20261129/eu-west-1/s3/aws4_request`;
    assert.equal(presign({ 'X-Amz-Credential': region }), 'AuthorizationQueryParametersError');
    assert.deepEqual(sigv4.details, [['Region', 'us-east-1']]);
    const nobody = 'AKIANOBODY/20261129/us-east-1/s3/aws4_request';
    assert.equal(presign({ 'X-Amz-Credential': nobody }), 'InvalidAccessKeyId');
  });

  test('every parameter but the signature is covered by it', () => {
    for (const append of ['&versionId=1', '&x-amz-copy-source=%2Fb%2Fsecret', '&acl', '&']) {
      const expected = append === '&' ? accessKeyId : 'SignatureDoesNotMatch';
      assert.equal(presign({}, { append }), expected, append);
    }
    assert.equal(presign({ 'x-id': 'GetObject', 'x-amz-checksum-mode': 'ENABLED' }), accessKeyId);
    assert.equal(presign({}, { append: '&X-Amz-Expires=9' }), 'AuthorizationQueryParametersError');
    assert.equal(
      presign({}, { append: `&X-Amz-Signature=${'0'.repeat(64)}` }),
      'AuthorizationQueryParametersError',
    );
  });

  test('unsigned x-amz-headers are refused, signed ones accepted', () => {
    for (const name of ['x-amz-copy-source', 'x-amz-acl', 'x-amz-content-sha256']) {
      const value = name === 'x-amz-content-sha256' ? emptyHash : '/b/secret';
      const headers = { [name]: value };
      assert.equal(presign({}, { headers, method: 'PUT' }), 'AccessDenied', name);
      const hash = name === 'x-amz-content-sha256' ? emptyHash : 'UNSIGNED-PAYLOAD';
      assert.equal(
        presign({ 'X-Amz-SignedHeaders': `host;${name}` }, { headers, method: 'PUT', hash }),
        accessKeyId,
        name,
      );
    }
  });

  test('a payload hash in the query counts', () => {
    const hashed = { 'X-Amz-Content-Sha256': emptyHash };
    assert.equal(presign(hashed, { hash: emptyHash }), accessKeyId);
    assert.equal(sigv4.payload, 'hash');
    assert.equal(presign(hashed), 'SignatureDoesNotMatch');
  });

  test('a second signature in the header is refused', () => {
    const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20261129/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=${'0'.repeat(64)}`;
    assert.equal(presign({}, { headers: { authorization } }), 'InvalidArgument');
  });
});
