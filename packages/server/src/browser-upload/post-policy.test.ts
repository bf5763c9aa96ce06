import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPolicy, refusedByPolicy, type PostPolicy } from './post-policy.ts';

const expiration = '2026-01-02T00:00:00.000Z';
const before = Date.parse(expiration) - 1;

function policy(conditions: readonly unknown[], changes: object = {}): PostPolicy | null {
  const document = JSON.stringify({ expiration, conditions, ...changes });
  return readPolicy(Buffer.from(document).toString('base64'));
}

function refused(conditions: readonly unknown[], fields: Record<string, string>): string | null {
  const read = policy([{ bucket: 'data' }, ...conditions]);
  assert.ok(read !== null);
  return refusedByPolicy(read, 'data', new Map(Object.entries(fields)), before);
}

test('a form passes when each of its fields is covered by a condition that holds', () => {
  const conditions = [
    ['starts-with', '$key', 'user/'],
    { ACL: 'private', success_action_status: 201 },
    ['EQ', '$x-amz-meta-name', 'é'],
    ['content-length-range', 1, '1048576'],
  ];
  const fields = {
    key: 'user/a',
    acl: 'private',
    success_action_status: '201',
    'x-amz-meta-name': '\xc3\xa9',
    policy: 'p',
    'x-amz-signature': 's',
    'x-ignore-this': 'x',
  };
  assert.equal(refused(conditions, fields), null);
  assert.match(refused(conditions, { ...fields, key: 'other/a' }) ?? '', /Condition failed.*\$key/);
  assert.match(refused(conditions, { ...fields, acl: 'public-read' }) ?? '', /\$acl/);
  assert.match(
    refused(conditions, { ...fields, tagging: 'x' }) ?? '',
    /Extra input fields: tagging/,
  );
  const { acl, ...without } = fields;
  assert.match(refused(conditions, without) ?? '', /\$acl/, `without ${acl}`);
});

test('the bucket needs a condition, and it is the one that the form went to', () => {
  const any = policy([['starts-with', '$key', '']]);
  assert.ok(any !== null);
  assert.match(
    refusedByPolicy(any, 'data', new Map([['key', 'k']]), before) ?? '',
    /fields: bucket/,
  );
  const other = policy([{ bucket: 'other' }]);
  assert.ok(other !== null);
  // A field of that name changes nothing.
  assert.match(
    refusedByPolicy(other, 'data', new Map([['bucket', 'other']]), before) ?? '',
    /bucket/,
  );
});

test('a policy ends when it says so', () => {
  const read = policy([{ bucket: 'data' }]);
  assert.ok(read !== null);
  assert.equal(refusedByPolicy(read, 'data', new Map(), before), null);
  assert.match(refusedByPolicy(read, 'data', new Map(), before + 1) ?? '', /expired/);
});

test('of several types each must begin as the condition says', () => {
  const images = [['starts-with', '$Content-Type', 'image/']];
  assert.equal(refused(images, { 'content-type': 'image/png, image/gif' }), null);
  assert.notEqual(refused(images, { 'content-type': 'image/png,text/html' }), null);
});

test('ranges of lengths narrow one another, and one that says nothing allows nothing', () => {
  const range = (...ranges: readonly unknown[][]): readonly (number | undefined)[] => {
    const read = policy(ranges.map((bounds) => ['content-length-range', ...bounds]));
    return [read?.minLength, read?.maxLength];
  };
  assert.deepEqual(range([2, 10], [0, 7]), [2, 7]);
  assert.deepEqual(range(), [0, Infinity]);
  assert.deepEqual(range(['x', 7]), [Infinity, -1]);
  assert.deepEqual(range([0, 1e30]), [Infinity, -1]);
});

test('what is not understood is no policy', () => {
  for (const conditions of [
    [['ends-with', '$key', 'a']],
    [['eq', 'key', 'a']],
    [['eq', '$key']],
    [['content-length-range', 1]],
    [{ key: null }],
    [{ key: ['a'] }],
    ['key'],
    [null],
  ]) {
    assert.equal(policy(conditions), null, JSON.stringify(conditions));
  }
  assert.equal(policy([], { expiration: 'tomorrow' }), null);
  assert.equal(policy([], { expiration: undefined }), null);
  assert.equal(policy([], { conditions: {} }), null);
  for (const field of ['', '!', '{}', 'e30', Buffer.from('[]').toString('base64'), '/w==']) {
    assert.equal(readPolicy(field), null, field);
  }
});
