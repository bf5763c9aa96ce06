import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readBinary, readU64, writeBinary, writeU64 } from './bytes.ts';
import {
  decodeFrameHeader,
  encodeBareFrame,
  encodeFrameHeader,
  frameHeaderBytes,
  FrameType,
  maxBodyBytes,
  maxPayloadBytes,
  newFrameHeader,
} from './frame.ts';

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const u8 = fc.integer({ min: 0, max: 255 });

test('a frame header has these sixteen bytes', () => {
  const bytes = new Uint8Array(frameHeaderBytes);
  encodeFrameHeader(bytes, 0, FrameType.answerBytes, 5, 0xdeadbeef, 0x010203, 0x0a0b);
  assert.equal(Buffer.from(bytes).toString('hex'), '0302010019050000efbeadde0b0a0000');
});

test('a bare frame is a header without payload or body', () => {
  const bytes = new Uint8Array(frameHeaderBytes);
  assert.equal(encodeBareFrame(bytes, 0, FrameType.cancel, 7), 16);
  assert.equal(Buffer.from(bytes).toString('hex'), '00000000120000000700000000000000');
});

test('every frame type has a number of its own', () => {
  const numbers = Object.values(FrameType);
  assert.equal(new Set(numbers).size, numbers.length);
});

/** What nodes answer: these may carry a ring mark. */
const marked: readonly number[] = [
  FrameType.pong,
  FrameType.answerMetadata,
  FrameType.answerBytes,
  FrameType.answerFailure,
];

test('any header comes back as it was written, at any offset', () => {
  fc.assert(
    fc.property(
      fc.record(
        {
          payloadLength: fc.integer({ min: 0, max: maxPayloadBytes }),
          type: fc.oneof(u8, fc.constantFrom(...marked)),
          flags: u8,
          ringMark: fc.integer({ min: 0, max: 0xffff }),
          requestId: u32,
          bodyLength: fc.integer({ min: 0, max: maxBodyBytes }),
        },
        { noNullPrototype: true },
      ),
      fc.integer({ min: 0, max: 9 }),
      (header, at) => {
        const bytes = new Uint8Array(at + frameHeaderBytes);
        const { type, flags, ringMark, requestId, payloadLength, bodyLength } = header;
        const end = encodeFrameHeader(
          bytes,
          at,
          type,
          flags,
          requestId,
          payloadLength,
          bodyLength,
          ringMark,
        );
        assert.equal(end, at + frameHeaderBytes);
        const decoded = newFrameHeader();
        const isMarked = marked.includes(type) || ringMark === 0;
        assert.equal(decodeFrameHeader(bytes, at, decoded), isMarked ? null : 'reserved');
        assert.deepEqual(decoded, header);
      },
    ),
  );
});

test('lengths above the limits and reserved bytes that are set are refused', () => {
  const bytes = new Uint8Array(frameHeaderBytes);
  const header = newFrameHeader();
  encodeFrameHeader(bytes, 0, FrameType.answerBytes, 0, 1, maxPayloadBytes + 1, 0);
  assert.equal(decodeFrameHeader(bytes, 0, header), 'limit');
  encodeFrameHeader(bytes, 0, FrameType.answerBytes, 0, 1, 0, maxBodyBytes + 1);
  assert.equal(decodeFrameHeader(bytes, 0, header), 'limit');
  encodeFrameHeader(bytes, 0, FrameType.answerBytes, 0, 1, 0, maxBodyBytes);
  assert.equal(decodeFrameHeader(bytes, 0, header), null);
  encodeFrameHeader(bytes, 0, FrameType.ping, 0, 1, 0, 0);
  bytes[7] = 1;
  assert.equal(decodeFrameHeader(bytes, 0, header), 'reserved');
});

test('figures of 64 bits are exact up to 2^53 - 1 and refused above', () => {
  const bytes = new Uint8Array(8);
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => {
      writeU64(bytes, 0, value);
      assert.equal(readU64(bytes, 0), value);
    }),
  );
  writeU64(bytes, 0, Number.MAX_SAFE_INTEGER);
  assert.equal(readU64(bytes, 0), Number.MAX_SAFE_INTEGER);
  bytes.set([0, 0, 0, 0, 0, 0, 0x20, 0]);
  assert.equal(readU64(bytes, 0), -1);
  bytes.fill(0xff);
  assert.equal(readU64(bytes, 0), -1);
});

test('binary strings keep every byte, however long they are', () => {
  for (const length of [0, 1, 4095, 4096, 4097, 20_000]) {
    const text = Array.from({ length }, (_, index) => String.fromCharCode(index % 256)).join('');
    const bytes = new Uint8Array(length + 3);
    assert.equal(writeBinary(bytes, 3, text), length + 3);
    assert.equal(readBinary(bytes, 3, length + 3), text);
  }
});
