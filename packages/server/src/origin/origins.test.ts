import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostOf, mapTarget, objectTarget, serverNameOf } from './origin-target.ts';
import { noOrigin } from './origin-failure.ts';
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

test('a bucket without an origin has none, unless some are still untold', () => {
  assert.equal(noOrigin('b', new Origins(null)).code, 'unknown-origin');
  assert.equal(noOrigin('b', new Origins(null, [], false)).code, 'untold-origin');
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

test('an origin that wants its buckets in the host gets them there, and no byte of a key changes', () => {
  const virtual = { ...settings, addressing: 'virtual' } as const;
  const origin = resolveOrigin({ ...virtual, endpoint: 'https://s3.example.com:8443' });
  assert.equal(hostOf(origin, 'tables'), 'tables.s3.example.com:8443');
  assert.equal(hostOf(origin, ''), 's3.example.com:8443');
  assert.deepEqual(serverNameOf(origin, 'tables'), { serverName: 's3.example.com' });
  assert.deepEqual(serverNameOf(origin, ''), {});
  assert.equal(objectTarget(origin, 'tables', '//../\xc3\xa9+ '), '///../%C3%A9%2B%20');
  assert.equal(mapTarget(origin, 'tables', '/tables//..%2f+?x=/b/'), '//..%2f+?x=/b/');
  assert.equal(mapTarget(origin, 'tables', '/tables?list-type=2'), '/?list-type=2');
  assert.equal(mapTarget(origin, 'tables', '/tables'), '/');
  assert.equal(mapTarget(origin, '', '/?x'), '/?x');
  const renamed = resolveOrigin({ ...virtual, endpoint: 'http://h/base', bucket: 'real.name' });
  assert.equal(hostOf(renamed, 'tables'), 'real.name.h');
  assert.deepEqual(serverNameOf(renamed, 'tables'), {});
  assert.equal(objectTarget(renamed, 'tables', 'k'), '/base/k');
  assert.equal(mapTarget(renamed, 'tables', '/tables/k'), '/base/k');
});

test('a bucket whose name could be taken for something else in a host stays in the path', () => {
  const origin = resolveOrigin({ ...settings, endpoint: 'http://h', addressing: 'virtual' });
  const odd = [
    'Upper',
    'under_score',
    '-dash',
    'dot.',
    '.dot',
    'a..b',
    'a/b',
    'a\r\nx: y',
    'a@b',
    'x'.repeat(64),
  ];
  for (const bucket of odd) {
    assert.equal(hostOf(origin, bucket), 'h', bucket);
    assert.ok(objectTarget(origin, bucket, 'k').length > bucket.length, bucket);
  }
  assert.equal(objectTarget(origin, 'Upper', 'k'), '/Upper/k');
  assert.equal(mapTarget(origin, 'Upper', '/Upper/k'), '/Upper/k');
});
