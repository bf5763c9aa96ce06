import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxAddressLength } from '@s3-accelerator/core/membership/member-record.ts';
import type { DatedRing } from '@s3-accelerator/core/ring-history.ts';
import { maxMembers, Ring, type Member } from '@s3-accelerator/core/ring.ts';
import { decodeFrameHeader, frameHeaderBytes, maxPayloadBytes, newFrameHeader } from './frame.ts';
import {
  decodeRingAnswer,
  decodeRingRequest,
  encodeRingAnswer,
  encodeRingRequest,
  longestRingAnswerBytes,
  ringMark,
  ringRequestBytes,
} from './ring-message.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function member(nodeId: number, weight = 1, address = `10.0.0.${nodeId}:9400`): Member {
  return { nodeId, weight, address };
}

const dated = (version: number, replacedForMs: number, ...members: Member[]): DatedRing => ({
  ring: new Ring(version, members),
  replacedForMs,
});

function decoded(frame: Uint8Array): readonly DatedRing[] {
  const rings = decodeRingAnswer(frame, frameHeaderBytes, frame.length);
  assert.ok(typeof rings !== 'string', 'refused');
  return rings;
}

test('a mark stands for a version: never 0 but for none, another one for nearly every other version', () => {
  assert.equal(ringMark(0), 0);
  assert.equal(ringMark(5 * 2 ** 21 + 77), 38_452);
  const versions = Array.from({ length: 2000 }, (_, epoch) => (epoch + 1) * 2 ** 21 + 77);
  const marks = versions.map(ringMark);
  assert.ok(marks.every((mark) => mark > 0 && mark <= 0xffff));
  assert.ok(new Set(marks).size > 1950);
  const changed = marks.filter((mark, at) => mark !== marks[at - 1]).length;
  assert.equal(changed, marks.length, 'one change after the other is seen');
});

test('a ring request has these bytes', () => {
  const bytes = new Uint8Array(ringRequestBytes);
  assert.equal(encodeRingRequest(bytes, 0, 7, 0x1_0000_0002), ringRequestBytes);
  assert.equal(hex(bytes), '08000000300000000700000000000000' + '0200000001000000');
  assert.equal(decodeRingRequest(bytes, frameHeaderBytes, ringRequestBytes), 0x1_0000_0002);
  assert.equal(decodeRingRequest(bytes, frameHeaderBytes, ringRequestBytes - 1), 'length');
  bytes[ringRequestBytes - 1] = 1;
  assert.equal(decodeRingRequest(bytes, frameHeaderBytes, ringRequestBytes), 'figure');
});

test('a ring answer has these bytes', () => {
  const frame = encodeRingAnswer(7, [
    dated(0x300, 0, member(1, 2, 'a:1'), member(2, 1, 'b:1')),
    dated(0x200, 9.5, member(1, 2, 'a:1')),
  ]);
  assert.equal(
    hex(frame),
    '3e000000310000000700000000000000' +
      '02000200' +
      '0100000002000000' +
      '03613a31' +
      '0200000001000000' +
      '03623a31' +
      '00030000000000000000000000000000' +
      '03' +
      '00020000000000000a00000000000000' +
      '01',
  );
});

test('rings come back as they were, also where members changed weight or address', () => {
  const rings = [
    dated(900, 0, member(0), member(1, 5), member(2), member(4_000_000_000, 1, '[::1]:9400')),
    dated(800, 10, member(0), member(1), member(2)),
    dated(700, 20, member(0), member(1), member(2, 1, '10.1.1.1:9400')),
    dated(600, 20),
  ];
  assert.deepEqual(decoded(encodeRingAnswer(1, rings)), rings);
  assert.deepEqual(decoded(encodeRingAnswer(1, [])), []);
});

test('at most eight rings are sent', () => {
  const rings = Array.from({ length: 12 }, (_, i) => dated(100 - i, i, member(i)));
  assert.deepEqual(decoded(encodeRingAnswer(1, rings)), rings.slice(0, 8));
});

test('the largest ring fits a frame, and older ones are left out where they don’t', () => {
  assert.ok(longestRingAnswerBytes <= maxPayloadBytes);
  const address = (round: number, nodeId: number): string =>
    `${round}.${nodeId}`.padEnd(maxAddressLength, 'x');
  const ringOf = (version: number, round: number): DatedRing =>
    dated(
      version,
      version === 9 ? 0 : 1,
      ...Array.from({ length: maxMembers }, (_, id) => member(id, 1, address(round, id))),
    );
  const frame = encodeRingAnswer(1, [ringOf(9, 1), ringOf(8, 1), ringOf(7, 2), ringOf(6, 1)]);
  const header = newFrameHeader();
  assert.equal(decodeFrameHeader(frame, 0, header), null);
  const rings = decoded(frame);
  assert.deepEqual(
    rings.map(({ ring }) => ring.version),
    [9, 8],
  );
});

test('what a decoder refuses', () => {
  const frame = encodeRingAnswer(7, [
    dated(0x300, 0, member(1, 2, 'a:1'), member(2, 1, 'b:1')),
    dated(0x200, 9, member(1, 2, 'a:1')),
  ]);
  const harmed = (at: number, value: number): unknown => {
    const bytes = frame.slice();
    bytes[frameHeaderBytes + at] = value;
    return decodeRingAnswer(bytes, frameHeaderBytes, bytes.length);
  };
  assert.equal(harmed(0, 3), 'figure');
  assert.equal(harmed(2, 1), 'length');
  assert.equal(harmed(2, 9), 'figure');
  assert.equal(harmed(3, 1), 'reserved');
  assert.equal(harmed(8, 0), 'figure', 'a weight of zero');
  assert.equal(harmed(13, 0x20), 'figure', 'an address with a space');
  assert.equal(harmed(16, 0), 'figure', 'members out of order');
  assert.equal(harmed(36, 1), 'figure', 'a current ring that was replaced');
  assert.equal(harmed(44, 1), 'figure', 'a member of no ring');
  assert.equal(harmed(44, 7), 'reserved', 'a bit of no member');
  assert.equal(harmed(46, 4), 'figure', 'rings out of order');
  for (let end = frameHeaderBytes; end < frame.length; end++) {
    assert.equal(typeof decodeRingAnswer(frame, frameHeaderBytes, end), 'string');
  }
});
