import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapTarget, objectTarget } from './origin-target.ts';
import { Origins, resolveOrigin } from './origins.ts';
import type { OriginSettings } from './origins.ts';

const settings: OriginSettings = {
  endpoint: 'https://s3.us-east-1.amazonaws.com',
  region: 'us-east-1',
  credentials: { accessKeyId: 'a', secretAccessKey: 's' },
};

test('a bucket has the default origin unless it has its own', () => {
  const own = { ...settings, endpoint: 'http://127.0.0.1:9001/', bucket: 'real' };
  const origins = new Origins(settings, [['assets', own]]);
  assert.equal(origins.of('tables')?.host, 's3.us-east-1.amazonaws.com');
  assert.equal(origins.of('assets')?.host, '127.0.0.1:9001');
  assert.equal(new Origins(null).of('tables'), null);
});

test('an identity names endpoint and real bucket, and nothing of credentials or region', () => {
  const identity = (changes: Partial<OriginSettings>): string =>
    new Origins({ ...settings, ...changes }).identity('tables');
  assert.equal(identity({}), 'https://s3.us-east-1.amazonaws.com/tables');
  assert.equal(identity({ region: 'eu-west-1' }), identity({}));
  assert.equal(identity({ credentials: { accessKeyId: 'b', secretAccessKey: 't' } }), identity({}));
  assert.notEqual(identity({ bucket: 'other' }), identity({}));
  assert.notEqual(identity({ endpoint: 'http://127.0.0.1:1' }), identity({}));
  assert.equal(new Origins(null).identity('tables'), '');
});

test('an endpoint that is no plain URL is refused without showing what it hides', () => {
  for (const endpoint of ['s3.amazonaws.com', 'ftp://host', 'http://', '']) {
    assert.throws(() => resolveOrigin({ ...settings, endpoint }), TypeError);
  }
  assert.throws(
    () => resolveOrigin({ ...settings, endpoint: 'http://user:hunter2@host' }),
    (error: Error) => !error.message.includes('hunter2'),
  );
});

test('targets keep every byte of the key, below the endpoint’s own path', () => {
  const origin = resolveOrigin({ ...settings, endpoint: 'http://h:1/base/', bucket: 'real' });
  assert.equal(objectTarget(origin, 'b', '//../\xc3\xa9+ '), '/base/real///../%C3%A9%2B%20');
  assert.equal(mapTarget(origin, 'b', '/b//..%2f+?x=/b/'), '/base/real//..%2f+?x=/b/');
  assert.equal(mapTarget(origin, 'b', '/b?list-type=2'), '/base/real?list-type=2');
  assert.equal(mapTarget(origin, '', '/?x'), '/base/?x');
});
