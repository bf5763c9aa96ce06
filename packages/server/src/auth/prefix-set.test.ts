import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PrefixSet } from './prefix-set.ts';

test('a text is covered exactly when it begins with one of the prefixes', () => {
  const text = fc.string({ unit: fc.constantFrom('', 'a', 'b', '/', '\xff'), maxLength: 6 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), text, (prefixes, asked) => {
      const wanted = prefixes.some((prefix) => asked.startsWith(prefix));
      assert.equal(new PrefixSet(prefixes).covers(asked), wanted);
    }),
    { numRuns: 5000 },
  );
});

test('no prefix covers nothing, and the empty one everything', () => {
  assert.equal(new PrefixSet([]).covers(''), false);
  assert.equal(new PrefixSet(['x', '']).covers(''), true);
  assert.equal(new PrefixSet(['x', '']).covers('abc'), true);
});
