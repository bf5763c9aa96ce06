import { throws } from 'node:assert/strict';
import { test } from 'node:test';
import { assert, BrokenInvariant } from './assert.ts';

test('an assertion passes what holds and throws its message for what does not', () => {
  assert(true, 'never seen');
  throws(() => {
    assert(false, 'the roof leaks');
  }, new BrokenInvariant('the roof leaks'));
});
