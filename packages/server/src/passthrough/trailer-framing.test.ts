import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TrailerFraming, TrailerUnframing, framedLength } from './trailer-framing.ts';

const trailer = 'x-amz-checksum-crc32';
const value = 'AAAAAA==';

function framed(body: Buffer, parts: readonly number[]): Buffer {
  const out: Buffer[] = [];
  const write = (bytes: Uint8Array): boolean => {
    out.push(Buffer.from(bytes));
    return true;
  };
  const framing = new TrailerFraming(body.length);
  let at = 0;
  for (const part of [...parts, body.length]) {
    framing.push(body.subarray(at, at + part), write);
    at = Math.min(body.length, at + part);
  }
  framing.end(trailer, value, write);
  return Buffer.concat(out);
}

test('a small body is one chunk, the end marker and the trailer', () => {
  assert.equal(
    framed(Buffer.from('hello'), []).toString(),
    '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n',
  );
  assert.equal(
    framed(Buffer.alloc(0), []).toString(),
    '0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n',
  );
});

test('the length is known beforehand and the framing comes off again, however it is split', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.nat(300), fc.integer({ min: 65_000, max: 66_000 }), fc.nat(400_000)),
      fc.array(fc.nat(100_000), { maxLength: 8 }),
      fc.integer({ min: 1, max: 70_000 }),
      (length, parts, step) => {
        const body = Buffer.alloc(length, 'abc\r\n0');
        const bytes = framed(body, parts);
        assert.equal(bytes.length, framedLength(length, trailer));
        const unframing = new TrailerUnframing();
        const back: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += step) {
          unframing.push(bytes.subarray(at, at + step), (part) => back.push(Buffer.from(part)));
        }
        assert.ok(Buffer.concat(back).equals(body));
        assert.equal(unframing.value, value);
      },
    ),
    { numRuns: 100 },
  );
});
