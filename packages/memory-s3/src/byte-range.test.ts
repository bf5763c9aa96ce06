import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveRange } from './byte-range.ts';

test('ranges resolve by the rules of S3', () => {
  const rows: readonly (readonly [string | undefined, number, unknown])[] = [
    [undefined, 10, 'whole'],
    ['bytes=0-0', 10, { start: 0, end: 1 }],
    ['bytes=3-', 10, { start: 3, end: 10 }],
    ['bytes=3-99', 10, { start: 3, end: 10 }],
    ['bytes=-4', 10, { start: 6, end: 10 }],
    ['bytes=-99', 10, { start: 0, end: 10 }],
    ['bytes=8-3', 10, 'whole'],
    ['bytes=0-1,4-5', 10, 'whole'],
    ['bytes=-', 10, 'whole'],
    ['items=0-1', 10, 'whole'],
    ['bytes=10-', 10, 'unsatisfiable'],
    ['bytes=-0', 10, 'unsatisfiable'],
    ['bytes=0-', 0, 'unsatisfiable'],
    ['bytes=-5', 0, 'whole'],
  ];
  for (const [header, size, expected] of rows) {
    assert.deepEqual(resolveRange(header, size), expected, `${String(header)} of ${size}`);
  }
});
