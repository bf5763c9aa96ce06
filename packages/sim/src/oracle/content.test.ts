import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fillContent, firstDifference } from './content.ts';

function content(number: number, first: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  fillContent(number, first, bytes);
  return bytes;
}

const anyContent = fc.integer({ min: 1, max: 2 ** 40 });
const anyPosition = fc.oneof(fc.nat(100), fc.integer({ min: 0, max: 2 ** 34 }));

void test('a piece of a content is the same however it is cut out, aligned or not', () => {
  fc.assert(
    fc.property(anyContent, anyPosition, fc.nat(70), fc.nat(7), (number, first, length, skip) => {
      const whole = content(number, first, length + skip);
      assert.deepEqual(content(number, first + skip, length), whole.slice(skip));
      const shifted = new Uint8Array(length + 11).subarray(3, 3 + length);
      fillContent(number, first + skip, shifted);
      assert.deepEqual(new Uint8Array(shifted), whole.slice(skip));
    }),
  );
});

void test('a piece matches its own content and position', () => {
  fc.assert(
    fc.property(anyContent, anyPosition, fc.nat(70), (number, first, length) => {
      assert.equal(firstDifference(number, first, content(number, first, length)), -1);
    }),
  );
});

void test('one wrong byte is found where it is', () => {
  fc.assert(
    fc.property(
      anyContent,
      anyPosition,
      fc.integer({ min: 1, max: 70 }),
      fc.nat(69),
      fc.integer({ min: 1, max: 255 }),
      (number, first, length, at, flip) => {
        const bytes = content(number, first, length);
        bytes[at % length]! ^= flip;
        assert.equal(firstDifference(number, first, bytes), at % length);
      },
    ),
  );
});

void test('another content, or another place of the same one, differs within the first eight bytes', () => {
  fc.assert(
    fc.property(anyContent, anyContent, anyPosition, anyPosition, (one, other, first, second) => {
      fc.pre(one !== other || first !== second);
      const at = firstDifference(one, first, content(other, second, 16));
      assert.ok(at >= 0 && at < 8, `differs first at ${at}`);
    }),
    { numRuns: 2000 },
  );
});
