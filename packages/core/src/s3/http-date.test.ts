import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatAmzDate, formatHttpDate, parseAmzDate, parseHttpDate } from './http-date.ts';

const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });
const latin1 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));

test('HTTP dates are written as the platform writes them, from year 1 to 9999', () => {
  fc.assert(
    fc.property(seconds, (at) => {
      assert.equal(formatHttpDate(at), new Date(at * 1000).toUTCString());
    }),
  );
});

test('an HTTP date reads back as the second it was written from', () => {
  fc.assert(
    fc.property(seconds, (at) => {
      assert.equal(parseHttpDate(formatHttpDate(at)), at);
    }),
  );
});

test('an x-amz-date is the ISO form without its separators and reads back', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 253_402_300_799 }), (at) => {
      const text = formatAmzDate(at);
      assert.equal(
        text,
        new Date(at * 1000).toISOString().replace(/[-:]/g, '').replace('.000', ''),
      );
      const padded = latin1(`::${text}::`);
      assert.equal(parseAmzDate(padded, 2, 18), at);
    }),
  );
});

test('the two obsolete forms of HTTP dates are understood', () => {
  const expected = Date.UTC(1994, 10, 6, 8, 49, 37) / 1000;
  assert.equal(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT'), expected);
  assert.equal(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT'), expected);
  assert.equal(parseHttpDate('Sun Nov  6 08:49:37 1994'), expected);
});

test('what is no date is null', () => {
  for (const text of [
    '',
    'yesterday',
    'Sun, 31 Feb 2020 00:00:00 GMT',
    'Sun, 29 Feb 2019 00:00:00 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:49:37 CET',
    'Xxx, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Xxx 1994 08:49:37 GMT',
    'Sunday, 06-Xxx-94 08:49:37 GMT',
    'Anyday, 06-Nov-94 08:49:37 GMT',
    'Xxx Nov  6 08:49:37 1994',
  ]) {
    assert.equal(parseHttpDate(text), null, text);
  }
});

test('a malformed x-amz-date is -1', () => {
  for (const text of [
    '20130524T000000',
    '20130524T000000z',
    '20130524 000000Z',
    '2013052xT000000Z',
    '20131324T000000Z',
    '20130230T000000Z',
    '20130524T250000Z',
    '',
  ]) {
    assert.equal(parseAmzDate(latin1(text), 0, text.length), -1, text);
  }
});
