import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  GrantSet,
  authorize,
  authorizeKeys,
  neededRight,
  type Grant,
  type Right,
  type Wanted,
} from './grants.ts';
import type { Operation } from './operation.ts';

const operations = Object.keys(neededRight) as Operation[];

const wanted = (changes: Partial<Wanted> = {}): Wanted => ({
  operation: 'GetObject',
  resource: { bucket: 'bucket', key: 'dir/key' },
  prefix: 'dir/',
  copySource: { bucket: 'source', key: 'src/key', versionId: null },
  ...changes,
});

function allows(grants: readonly Grant[], changes: Partial<Wanted>): boolean {
  return authorize(new GrantSet(grants), wanted(changes)) === null;
}

const grant = (access: 'read' | 'write', bucket = 'bucket', prefix = ''): Grant => ({
  bucket,
  prefix,
  access,
});

/** What each right is satisfied by, said once more and in full: the whole table, both ways. */
const satisfied: Readonly<Record<Right, readonly (readonly [Grant[], boolean])[]>> = {
  filteredBuckets: [[[], true]],
  anyInBucket: [
    [[grant('read', 'bucket', 'x/')], true],
    [[grant('read', '*')], true],
    [[grant('write', 'other')], false],
  ],
  readPrefix: [
    [[grant('read')], true],
    [[grant('write')], true],
    [[grant('read', '*')], true],
    [[grant('read', 'bucket', 'dir/')], true],
    [[grant('read', 'bucket', 'di')], true],
    [[grant('read', 'bucket', 'dir/key')], false],
    [[grant('read', 'other')], false],
  ],
  readKey: [
    [[grant('read')], true],
    [[grant('write')], true],
    [[grant('read', '*', 'dir/')], true],
    [[grant('read', 'bucket', 'dir/key')], true],
    [[grant('read', 'bucket', 'dir/key2')], false],
    [[grant('read', 'bucket', '/dir')], false],
    [[grant('write', 'Bucket')], false],
  ],
  writeKey: [
    [[grant('write')], true],
    [[grant('write', '*', 'dir/')], true],
    [[grant('read'), grant('write', 'bucket', 'other/')], false],
    [[grant('read', '*')], false],
  ],
  writeKeyReadSource: [
    [[grant('write'), grant('read', 'source')], true],
    [[grant('write'), grant('read', 'source', 'src/')], true],
    [[grant('write', '*')], true],
    [[grant('write')], false],
    [[grant('write'), grant('read', 'source', 'other/')], false],
    [[grant('read'), grant('read', 'source')], false],
  ],
  writeEachKey: [
    [[grant('write', 'bucket', 'x/')], true],
    [[grant('read')], false],
    [[grant('write', 'other')], false],
  ],
  readBucket: [
    [[grant('read')], true],
    [[grant('read', '*')], true],
    [[grant('read', 'bucket', 'dir/')], false],
  ],
  writeBucket: [
    [[grant('write')], true],
    [[grant('write', '*')], true],
    [[grant('write', 'bucket', 'dir/')], false],
    [[grant('read')], false],
  ],
};

test('every operation is allowed by what its right says, and by nothing less', () => {
  for (const operation of operations) {
    const right = neededRight[operation];
    for (const [grants, expected] of satisfied[right]) {
      assert.equal(
        allows(grants, { operation }),
        expected,
        `${operation} with ${JSON.stringify(grants)}`,
      );
    }
    assert.equal(allows([], { operation }), right === 'filteredBuckets', operation);
  }
});

test("an operation that isn't known needs write on the whole bucket", () => {
  assert.equal(neededRight.Unknown, 'writeBucket');
});

test('prefixes are compared byte for byte', () => {
  assert.equal(
    allows([grant('read', 'bucket', 'a/b')], { resource: { bucket: 'bucket', key: 'a/bc' } }),
    true,
  );
  assert.equal(
    allows([grant('read', 'bucket', 'a/b/')], { resource: { bucket: 'bucket', key: 'a/bc' } }),
    false,
  );
  assert.equal(
    allows([grant('read', 'bucket', 'A')], { resource: { bucket: 'bucket', key: 'a' } }),
    false,
  );
  assert.equal(
    allows([grant('read', 'bucket', 'a/')], { resource: { bucket: 'bucket', key: 'a/../secret' } }),
    true,
  );
});

test('a listing without a prefix needs the whole bucket', () => {
  const listing = { operation: 'ListObjectsV2', prefix: '' } as const;
  assert.equal(allows([grant('read', 'bucket', 'dir/')], listing), false);
  assert.equal(allows([grant('read')], listing), true);
});

test('a copy whose source can not be read is refused', () => {
  const copy = wanted({ operation: 'CopyObject', copySource: null });
  assert.equal(authorize(new GrantSet([grant('write', '*')]), copy), 'InvalidArgument');
  assert.equal(authorize(new GrantSet([]), copy), 'AccessDenied');
});

test('each key of a multi-delete is judged', () => {
  const grants = new GrantSet([grant('write', 'bucket', 'a/'), grant('read')]);
  assert.equal(authorizeKeys(grants, 'bucket', ['a/1', 'a/2']), null);
  assert.equal(authorizeKeys(grants, 'bucket', ['a/1', 'b/2']), 'AccessDenied');
  assert.equal(authorizeKeys(grants, 'other', ['a/1']), 'AccessDenied');
});

test('more grants never allow less', () => {
  const anyGrant = fc.record({
    bucket: fc.constantFrom('bucket', 'source', '*'),
    prefix: fc.constantFrom('', 'dir/', 'src/', 'x'),
    access: fc.constantFrom<'read' | 'write'>('read', 'write'),
  });
  fc.assert(
    fc.property(
      fc.array(anyGrant, { maxLength: 4 }),
      anyGrant,
      fc.constantFrom(...operations),
      (grants, another, operation) => {
        if (allows(grants, { operation })) {
          assert.ok(allows([another, ...grants], { operation }));
          const writable = grants.map((each) => ({ ...each, access: 'write' as const }));
          assert.ok(allows(writable, { operation }));
        }
      },
    ),
  );
});

test('a client sees the buckets it holds a grant in', () => {
  const grants = new GrantSet([grant('read', 'one', 'dir/'), grant('write', 'two')]);
  assert.deepEqual(
    ['one', 'two', 'three'].filter((bucket) => grants.touches(bucket)),
    ['one', 'two'],
  );
});
