import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { contentHash } from './content-hash.ts';
import { findDifference, writeContent } from './content.ts';
import { Dataset } from './dataset.ts';

const plan = {
  name: 'any',
  bucket: 'load',
  prefix: 'a/',
  objects: 20_000,
  seed: 1,
  sizes: [
    { firstBytes: 1000, lastBytes: 16_000, weight: 3 },
    { firstBytes: 7, lastBytes: 7, weight: 1 },
  ],
};

function contentOf(identity: number, size: number): Buffer {
  const content = Buffer.alloc(size);
  writeContent(identity, 0, content, 0, size);
  return content;
}

test('a piece of an object is the same however it was cut', () => {
  const whole = contentOf(5, 30_000);
  fc.assert(
    fc.property(fc.nat(29_999), fc.nat(29_999), fc.nat(100), (one, other, padding) => {
      const [first, last] = [Math.min(one, other), Math.max(one, other)];
      const into = Buffer.alloc(padding + last - first);
      writeContent(5, first, into, padding, into.length);
      assert.ok(into.subarray(padding).equals(whole.subarray(first, last)));
      assert.equal(findDifference(5, first, into, padding, into.length), -1);
    }),
    { numRuns: 200 },
  );
});

test('a wrong byte is found where it is', () => {
  fc.assert(
    fc.property(fc.nat(9999), fc.nat(9999), fc.integer({ min: 1, max: 255 }), (at, from, flip) => {
      const content = contentOf(9, 10_000);
      content[at]! ^= flip;
      const expected = at >= from ? at : -1;
      assert.equal(findDifference(9, from, content, from, content.length), expected);
    }),
    { numRuns: 200 },
  );
});

test('bytes of another object, of another place and of another seed are wrong', () => {
  const page = contentOf(1, 4096);
  assert.notEqual(findDifference(2, 0, page, 0, page.length), -1);
  assert.notEqual(findDifference(1, 4096, page, 0, page.length), -1);
  const [one, other] = [new Dataset(plan), new Dataset({ ...plan, seed: 2 })];
  assert.notEqual(one.identity(3), other.identity(3));
});

test('the hash of the content is that of the bytes', () => {
  const content = contentOf(4, 600_000);
  assert.equal(contentHash(4, 600_000), createHash('sha256').update(content).digest('hex'));
});

test('keys are in the order of their numbers', () => {
  const dataset = new Dataset(plan);
  const keys = [0, 1, 9, 10, 99, 100, 19_999].map((object) => dataset.key(object));
  assert.deepEqual(keys, [...keys].sort());
  assert.equal(keys[3], 'a/000000010');
});

test('sizes keep to their weights and bounds, and each doubling is as likely as the other', () => {
  const dataset = new Dataset(plan);
  const counts = new Map<number, number>();
  for (let object = 0; object < plan.objects; object++) {
    const size = dataset.size(object);
    assert.ok(size === 7 || (size >= 1000 && size <= 16_000), `${size}`);
    const doubling = size === 7 ? -1 : Math.floor(Math.log2(size / 1000));
    counts.set(doubling, (counts.get(doubling) ?? 0) + 1);
  }
  const shares = [-1, 0, 1, 2, 3].map((each) => (counts.get(each) ?? 0) / plan.objects);
  assert.ok(Math.abs(shares[0]! - 0.25) < 0.02, `${shares[0]!}`);
  for (const share of shares.slice(1)) assert.ok(Math.abs(share - 0.75 / 4) < 0.02, `${share}`);
});

test('a dataset is the same on every machine', () => {
  const dataset = new Dataset(plan);
  const sizes = [0, 1, 2, 3].map((object) => dataset.size(object));
  assert.deepEqual(sizes, [6292, 1880, 2808, 3850]);
  assert.equal(
    contentHash(dataset.identity(0), 10_000),
    '85276553d457258b9dc2ae86031a52f194caf352e21e354abd2403a71a829177',
  );
});
