import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeBucketMark, encodeBucketMark } from './bucket-mark.ts';
import { decodeFrameHeader, frameHeaderBytes, FrameType, newFrameHeader } from './frame.ts';

function decode(bytes: Uint8Array): number | string {
  const header = newFrameHeader();
  const fault = decodeFrameHeader(bytes, 0, header);
  if (fault !== null) return fault;
  assert.equal(header.type, FrameType.bucketMark);
  return decodeBucketMark(bytes, frameHeaderBytes, bytes.length, header);
}

test('a mark has these bytes, and comes back', () => {
  const bytes = encodeBucketMark(0x1_0000_0002);
  assert.equal(
    Buffer.from(bytes).toString('hex'),
    '08000000' + '32' + '00' + '0000' + '00000000' + '00000000' + '0200000001000000',
  );
  for (const mark of [1, 0x1_0000_0002, Number.MAX_SAFE_INTEGER]) {
    assert.equal(decode(encodeBucketMark(mark)), mark);
  }
});

test('what makes no sense is refused', () => {
  const changed = (at: number, value: number): number | string => {
    const bytes = encodeBucketMark(7);
    bytes[at] = value;
    return decode(bytes);
  };
  assert.equal(changed(5, 1), 'reserved', 'a flag');
  assert.equal(changed(6, 1), 'reserved', 'the mark of a ring');
  assert.equal(changed(8, 1), 'reserved', 'a request id');
  assert.equal(changed(12, 1), 'limit', 'a body');
  assert.equal(changed(frameHeaderBytes, 0), 'figure', 'no mark');
  assert.equal(changed(frameHeaderBytes + 7, 1), 'figure', 'past 2^53');
  const bytes = encodeBucketMark(7);
  assert.equal(decode(bytes.subarray(0, bytes.length - 1)), 'length');
  assert.equal(decode(new Uint8Array([...bytes, 0])), 'length');
});
