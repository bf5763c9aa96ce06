import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rangeAnswer } from './byte-range.ts';

const part = (first: number, length: number) => ({ kind: 'part', first, length });
const whole = { kind: 'whole' };
const unsatisfiable = { kind: 'unsatisfiable' };

const cases: readonly [header: string | null, size: number, answer: object][] = [
  [null, 10, whole],
  ['bytes=0-3', 10, part(0, 4)],
  ['bytes=9-9', 10, part(9, 1)],
  ['bytes=4-', 10, part(4, 6)],
  ['bytes=4-99', 10, part(4, 6)],
  ['bytes=0-9', 10, part(0, 10)],
  ['bytes=10-', 10, unsatisfiable],
  ['bytes=10-12', 10, unsatisfiable],
  ['bytes=8-3', 10, whole],
  ['bytes=-4', 10, part(6, 4)],
  ['bytes=-40', 10, part(0, 10)],
  ['bytes=-0', 10, unsatisfiable],
  ['bytes=0-0', 0, unsatisfiable],
  ['bytes=0-', 0, unsatisfiable],
  ['bytes=-5', 0, whole],
  ['bytes=-0', 0, unsatisfiable],
  ['bytes=0-1,4-5', 10, whole],
  ['bytes=-', 10, whole],
  ['bytes=a-b', 10, whole],
  ['lines=0-3', 10, whole],
  ['bytes=1-2 ', 10, whole],
  ['', 10, whole],
];

for (const [header, size, answer] of cases) {
  void test(`${header ?? 'no range'} of ${size} bytes`, () => {
    assert.deepEqual(rangeAnswer(header, size), answer);
  });
}
