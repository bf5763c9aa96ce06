import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { GrantSet } from '../auth/grants.ts';
import { headerValue } from '../http/raw-headers.ts';
import { DeleteBody, type DeleteForward } from './delete-body.ts';

const grants = new GrantSet([{ bucket: 'bucket', prefix: 'a/', access: 'write' }]);
const spelling =
  '<Delete><Object><Key>a/1</Key></Object><Object><Key>&#97;/2</Key></Object></Delete>';

function finish(text: string, headers: readonly string[] = []): DeleteForward | string {
  const request = { method: 'POST', bucket: 'bucket', key: '', target: '/bucket?delete', headers };
  const body = new DeleteBody({ ...request, bodyLength: text.length }, grants);
  for (const character of text) body.push(Buffer.from(character, 'latin1'));
  return body.finish();
}

function finished(text: string, headers: readonly string[] = []): DeleteForward {
  const forward = finish(text, headers);
  assert.ok(typeof forward !== 'string', 'it was refused');
  return forward;
}

const digest = (algorithm: string, bytes: Uint8Array | string, form: 'base64' | 'hex'): string =>
  createHash(algorithm).update(bytes).digest(form);

test('the origin gets the keys in our own spelling, with digests of that', () => {
  const md5 = digest('md5', spelling, 'base64');
  const { request, body, keys } = finished(spelling, ['Host', 'h', 'Content-MD5', md5]);
  assert.deepEqual(keys, ['a/1', 'a/2']);
  const text = body.toString('latin1');
  assert.ok(text.includes('<Key>a/2</Key>') && !text.includes('&#97;'), text);
  assert.equal(request.bodyLength, body.length);
  assert.equal(headerValue(request.headers, 'host'), 'h');
  assert.equal(headerValue(request.headers, 'content-md5'), digest('md5', body, 'base64'));
  assert.equal(headerValue(request.headers, 'x-amz-content-sha256'), digest('sha256', body, 'hex'));
});

test('a digest of other bytes, a body that S3 doesn’t take and a key that isn’t granted are refused', () => {
  assert.equal(finish(spelling, ['Content-MD5', digest('md5', 'other', 'base64')]), 'BadDigest');
  assert.equal(finish('<Delete></Delete>'), 'MalformedXML');
  assert.equal(finish('<Delete><Object><Key>b</Key></Object></Delete>'), 'AccessDenied');
});
