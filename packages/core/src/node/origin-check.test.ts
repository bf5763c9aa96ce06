import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { objectHash, TestIdentity } from '../testing/identity.ts';
import { OriginCheck, type Named } from './origin-check.ts';

class CountingIdentity extends TestIdentity {
  digests = 0;

  override version(...args: Parameters<TestIdentity['version']>): void {
    this.digests += 1;
    super.version(...args);
  }
}

function named(identity: TestIdentity, key: string, etag = '"1"'): Named {
  const hash = objectHash('b', key);
  const version = { h0: 0, h1: 0, h2: 0, h3: 0 };
  identity.version('b', hash, etag, version);
  return { bucket: 'b', hash, etag, version };
}

test('what was affirmed is affirmed again without a digest, for its own object alone', () => {
  const identity = new CountingIdentity();
  const check = new OriginCheck(identity, 100_000);
  const one = named(identity, 'one');
  const other = named(identity, 'other');
  identity.digests = 0;
  equal(check.isOfItsOrigin(one), true);
  equal(check.isOfItsOrigin(one), true);
  equal(identity.digests, 1);
  equal(check.isOfItsOrigin({ ...other, version: one.version }), false);
  equal(check.isOfItsOrigin({ ...one, etag: '"2"', version: other.version }), false);
  equal(identity.digests, 3);
});

test('once a bucket may point elsewhere nothing is remembered', () => {
  const identity = new CountingIdentity();
  const check = new OriginCheck(identity, 100_000);
  const former = named(identity, 'one');
  equal(check.isOfItsOrigin(former), true);
  identity.pointAt('b', 'second');
  equal(check.isOfItsOrigin(former), false);
  equal(check.isOfItsOrigin(named(identity, 'one')), true);
});

test('nothing is remembered before it was affirmed, not even what is made of zeros', () => {
  const identity = new CountingIdentity();
  const hash = { h0: 0, h1: 0, h2: 0, h3: 0 };
  for (const objects of [1, 2, 100_000]) {
    const check = new OriginCheck(identity, objects);
    for (const h0 of [0, 1, 2]) {
      const version = { ...hash, h0 };
      equal(check.isOfItsOrigin({ bucket: 'b', hash, etag: '"1"', version }), false);
    }
  }
});
