import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newRangeRequest, newResolvedRange, parseRange, resolveRange } from './byte-range.ts';

const request = newRangeRequest();
const resolved = newResolvedRange();

function resolve(header: string, size: number): string {
  const bytes = Uint8Array.from(Buffer.from(`..${header}..`, 'latin1'));
  parseRange(bytes, 2, 2 + header.length, request);
  resolveRange(request, size, resolved);
  return resolved.kind === 'unsatisfiable'
    ? 'unsatisfiable'
    : `${resolved.kind} ${resolved.first}-${resolved.last}`;
}

/** No object is longer, so numbers beyond are the same number. */
function clamped(digits: string): string {
  const limit = BigInt(Number.MAX_SAFE_INTEGER);
  return (BigInt(digits) < limit ? BigInt(digits) : limit).toString();
}

/** A naive model: a regular expression, big integers, and the object's bytes one by one. */
function model(header: string, size: number): string {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header);
  const whole = `whole 0-${size - 1}`;
  if (match === null) return whole;
  const [first, last] = match.slice(1).map((digits) => (digits === '' ? '' : clamped(digits))) as [
    string,
    string,
  ];
  if (first === '' && last === '') return whole;
  if (first !== '' && last !== '' && BigInt(first) > BigInt(last)) return whole;
  if (first === '' && BigInt(last) === 0n) return 'unsatisfiable';
  if (first === '' && size === 0) return whole;
  const positions = Array.from({ length: size }, (_, position) => position);
  const selected = positions.filter((position) =>
    first === ''
      ? BigInt(size - position) <= BigInt(last)
      : BigInt(position) >= BigInt(first) && (last === '' || BigInt(position) <= BigInt(last)),
  );
  return selected.length === 0
    ? 'unsatisfiable'
    : `part ${selected[0]!}-${selected[selected.length - 1]!}`;
}

const bound = fc.oneof(
  { weight: 8, arbitrary: fc.nat(12).map(String) },
  fc.constant(''),
  fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String),
  fc.nat(12).map((digits) => digits.toString().padStart(20, '0')),
);
const header = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(bound, bound).map(([first, last]) => `bytes=${first}-${last}`) },
  fc.tuple(bound, bound).map(([first, last]) => `bytes=${first}-${last},0-1`),
  fc.constantFrom('bytes=', 'bytes', 'octets=0-1', 'bytes=0-1 ', 'bytes= 0-1', 'bytes=a-b', ''),
  fc.string({ maxLength: 12 }).filter((text) => /^[\x20-\x7e]*$/.test(text)),
);

test('every header means what the naive model says', () => {
  fc.assert(
    fc.property(header, fc.nat(12), (text, size) => {
      assert.equal(resolve(text, size), model(text, size), text);
    }),
    { numRuns: 3000 },
  );
});

test('the known hard cases', () => {
  assert.equal(resolve('bytes=8-3', 10), 'whole 0-9');
  assert.equal(resolve('bytes=-20', 10), 'part 0-9');
  assert.equal(resolve('bytes=0-0', 0), 'unsatisfiable');
  assert.equal(resolve('bytes=0-', 0), 'unsatisfiable');
  assert.equal(resolve('bytes=-5', 0), 'whole 0--1');
  assert.equal(resolve('bytes=-0', 10), 'unsatisfiable');
  assert.equal(resolve('bytes=0-1,3-4', 10), 'whole 0-9');
  assert.equal(resolve('bytes=9-', 10), 'part 9-9');
  assert.equal(resolve('bytes=10-', 10), 'unsatisfiable');
});
