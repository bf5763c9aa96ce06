import assert from 'node:assert/strict';
import { test } from 'node:test';
import { etagListMatches, isStrongEtag, opaqueTag } from './etag.ts';

test('only a quoted tag without W/ is strong', () => {
  assert.equal(isStrongEtag('"abc"'), true);
  assert.equal(isStrongEtag('"d41d8cd98f00b204e9800998ecf8427e-3"'), true);
  for (const etag of ['', '""', 'abc', 'W/"abc"', '"abc', 'abc"', '"a"b"']) {
    assert.equal(isStrongEtag(etag), false, etag);
  }
});

test('the opaque part is found behind W/ and quotes', () => {
  for (const etag of ['"abc"', 'W/"abc"', 'w/"abc"', 'abc']) assert.equal(opaqueTag(etag), 'abc');
  assert.equal(opaqueTag('"'), '"');
});

test('a list matches through quotes, W/, spaces, commas within tags, and *', () => {
  for (const list of [
    '*',
    ' * ',
    '"abc"',
    'abc',
    'W/"abc"',
    '"x", "abc"',
    '"x",abc',
    'x ,\t"abc" , y',
    ',,"abc"',
  ]) {
    assert.equal(etagListMatches(list, '"abc"', true), true, list);
  }
  assert.equal(etagListMatches('"a,b"', '"a,b"', true), true);
  for (const list of ['', '"abd"', '"x", "y"', '"abc,"', '"ab"c', '*, "x"', '"x, abc"']) {
    assert.equal(etagListMatches(list, '"abc"', true), false, list);
  }
});

test('strong comparison refuses weak tags on either side', () => {
  assert.equal(etagListMatches('"abc"', '"abc"', false), true);
  assert.equal(etagListMatches('abc', '"abc"', false), true);
  assert.equal(etagListMatches('W/"abc"', '"abc"', false), false);
  assert.equal(etagListMatches('"abc"', 'W/"abc"', false), false);
  assert.equal(etagListMatches('*', 'W/"abc"', false), true);
});
