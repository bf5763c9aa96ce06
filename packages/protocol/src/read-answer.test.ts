import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newReadAnswer, type ReadAnswer, type ReadFailure } from '@s3-accelerator/core/read.ts';
import fc from 'fast-check';
import {
  decodeFrameHeader,
  frameHeaderBytes,
  maxBodyBytes,
  maxPayloadBytes,
  newFrameHeader,
} from './frame.ts';
import {
  bytesAnswerBound,
  decodeReadAnswer,
  encodeBytesAnswer,
  encodeFailureAnswer,
  encodeMetadataAnswer,
  failureAnswerBound,
  metadataAnswerBound,
} from './read-answer.ts';

const latin1 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));

const metadata = {
  etag: '"e"',
  size: 0x1_0000_0002,
  lastModified: 1_700_000_000,
  headerLines: latin1('A: \xe9\r\n'),
  knowsChecksums: true,
  version: { h0: 1, h1: 2, h2: 3, h3: 4 },
};

const notFound = {
  status: 404,
  code: 'NoSuchKey',
  headerLines: latin1('X: y\r\n'),
  body: latin1('<E/>'),
};

/** The mark of the node's ring, in all answers here. */
const mark = 0xbeef;

function encodeMetadata(ageMs: number, lifetimeMs: number, first = 0, length = 0): Uint8Array {
  const bytes = new Uint8Array(metadataAnswerBound(metadata));
  const end = encodeMetadataAnswer(bytes, 0, 3, metadata, ageMs, lifetimeMs, first, length, mark);
  assert.equal(end, bytes.length);
  return bytes;
}

function encodeFailure(failure: ReadFailure, error: ReadAnswer['error']): Uint8Array {
  const bytes = new Uint8Array(failureAnswerBound(error));
  assert.equal(encodeFailureAnswer(bytes, 0, 3, failure, error, mark), bytes.length);
  return bytes;
}

function decode(bytes: Uint8Array, answer = newReadAnswer()): ReadAnswer | string {
  const header = newFrameHeader();
  const fault = decodeFrameHeader(bytes, 0, header);
  if (fault !== null) return fault;
  return decodeReadAnswer(bytes, frameHeaderBytes, bytes.length, header, answer) ?? answer;
}

test('a metadata answer has these bytes', () => {
  assert.equal(
    Buffer.from(encodeMetadata(10, 1000, 16, 5)).toString('hex'),
    '49000000' +
      '18' +
      '02' +
      'efbe' +
      '03000000' +
      '05000000' +
      '0200000001000000' +
      '00f1536500000000' +
      '01000000020000000300000004000000' +
      '0a00000000000000' +
      'e803000000000000' +
      '1000000000000000' +
      '0300' +
      '0000' +
      '06000000' +
      '226522' +
      '413a20e90d0a',
  );
});

test('a bytes answer is a bare head that announces its body', () => {
  const bytes = new Uint8Array(frameHeaderBytes);
  encodeBytesAnswer(bytes, 0, 3, 4096, mark);
  assert.equal(
    Buffer.from(bytes).toString('hex'),
    '00000000' + '19' + '00' + 'efbe' + '03000000' + '00100000',
  );
  const answer = newReadAnswer();
  assert.equal(decode(bytes, answer), answer);
  assert.equal(answer.kind, 'bytes');
  assert.equal(answer.bodyLength, 4096);
});

test('a failure has these bytes', () => {
  assert.equal(
    Buffer.from(encodeFailure('busy', null)).toString('hex'),
    '10000000' +
      '1a' +
      '00' +
      'efbe' +
      '03000000' +
      '00000000' +
      '02' +
      '00' +
      '0000' +
      '0000' +
      '0000' +
      '00000000' +
      '00000000',
  );
  assert.equal(
    Buffer.from(encodeFailure('origin', notFound)).toString('hex'),
    '23000000' +
      '1a' +
      '00' +
      'efbe' +
      '03000000' +
      '00000000' +
      '03' +
      '01' +
      '9401' +
      '0900' +
      '0000' +
      '06000000' +
      '04000000' +
      '4e6f537563684b6579' +
      '583a20790d0a' +
      '3c452f3e',
  );
});

test('where the bytes of an answer come from crosses the wire in two flags', () => {
  for (const [source, flags] of [
    ['slot', 0],
    ['fetched', 8],
    ['kept', 24],
  ] as const) {
    const bytes = new Uint8Array(bytesAnswerBound());
    encodeBytesAnswer(bytes, 0, 3, 7, mark, null, source);
    assert.equal(bytes[5], flags);
    const head = new Uint8Array(metadataAnswerBound(metadata));
    encodeMetadataAnswer(head, 0, 3, metadata, 10, 1000, 0, 7, mark, null, source);
    assert.equal(head[5], flags | 2);
    for (const answer of [decode(bytes), decode(head)]) {
      assert.ok(typeof answer !== 'string', 'it decodes');
      assert.equal(answer.source, source);
    }
    bytes[5] = 16;
    head[5] = 16;
    assert.equal(decode(bytes), 'reserved', 'kept without having been fetched');
    assert.equal(decode(head), 'reserved');
  }
});

test('immutable metadata has an endless lifetime', () => {
  const answer = newReadAnswer();
  assert.equal(decode(encodeMetadata(0, Infinity), answer), answer);
  assert.equal(answer.lifetimeMs, Infinity);
});

test('crossing the wire never makes metadata look fresher', () => {
  const answer = newReadAnswer();
  assert.equal(decode(encodeMetadata(10.2, 99.8), answer), answer);
  assert.equal(answer.ageMs, 11);
  assert.equal(answer.lifetimeMs, 99);
});

test('a date before 1970 counts as unknown', () => {
  const old = { ...metadata, lastModified: -5 };
  const bytes = new Uint8Array(metadataAnswerBound(old));
  encodeMetadataAnswer(bytes, 0, 3, old, 0, 0, 0, 0, mark);
  const answer = decode(bytes);
  assert.equal(typeof answer === 'string' ? answer : answer.metadata?.lastModified, 0);
});

test('decoded metadata keeps no hold of the frame', () => {
  const bytes = encodeMetadata(0, 0);
  const answer = decode(bytes);
  bytes.fill(0);
  assert.ok(typeof answer !== 'string');
  assert.deepEqual(answer.metadata, metadata);
});

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const binary = (maxLength: number): fc.Arbitrary<string> =>
  fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes).toString('latin1'));

test('any metadata comes back as it was sent', () => {
  const answer = newReadAnswer();
  fc.assert(
    fc.property(
      fc.record(
        {
          etag: binary(200),
          size: fc.integer({ min: maxBodyBytes, max: Number.MAX_SAFE_INTEGER }),
          lastModified: fc.maxSafeNat(),
          headerLines: fc.uint8Array({ maxLength: 9000 }),
          knowsChecksums: fc.boolean(),
          version: fc.record({ h0: u32, h1: u32, h2: u32, h3: u32 }, { noNullPrototype: true }),
        },
        { noNullPrototype: true },
      ),
      fc.maxSafeNat(),
      fc.oneof(fc.maxSafeNat(), fc.constant(Infinity)),
      fc.nat(maxBodyBytes),
      (object, ageMs, lifetimeMs, bodyLength) => {
        const bytes = new Uint8Array(metadataAnswerBound(object));
        const bodyFirst = object.size - bodyLength;
        encodeMetadataAnswer(bytes, 0, 1, object, ageMs, lifetimeMs, bodyFirst, bodyLength, mark);
        assert.equal(decode(bytes, answer), answer);
        const { metadata: decoded, kind } = answer;
        assert.deepEqual({ kind, decoded }, { kind: 'metadata', decoded: object });
        assert.deepEqual(
          [answer.ageMs, answer.lifetimeMs, answer.bodyFirst, answer.bodyLength],
          [ageMs, lifetimeMs, bodyFirst, bodyLength],
        );
      },
    ),
  );
});

test('any failure comes back as it was sent', () => {
  const answer = newReadAnswer();
  const failures = fc.constantFrom<ReadFailure>('changed', 'uncacheable', 'busy', 'origin', 'peer');
  const error = fc.record(
    {
      status: fc.integer({ min: 0, max: 999 }),
      code: binary(60),
      headerLines: fc.uint8Array({ maxLength: 9000 }),
      body: fc.uint8Array({ maxLength: 65_536 }),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(failures, fc.option(error), (failure, origin) => {
      assert.equal(decode(encodeFailure(failure, origin), answer), answer);
      assert.equal(answer.kind, 'failure');
      assert.equal(answer.failure, failure);
      assert.deepEqual(answer.error, origin);
    }),
  );
});

test('the longest error that an origin can give fits a frame', () => {
  const error = {
    status: 400,
    code: 'x'.repeat(100),
    headerLines: new Uint8Array(48 * 1024),
    body: new Uint8Array(64 * 1024),
  };
  assert.ok(failureAnswerBound(error) - frameHeaderBytes <= maxPayloadBytes);
});

test('an answer cut or stretched anywhere is refused', () => {
  const bytesAnswer = new Uint8Array(frameHeaderBytes);
  encodeBytesAnswer(bytesAnswer, 0, 1, 10, mark);
  const frames = [
    encodeMetadata(1, 2),
    encodeFailure('origin', notFound),
    encodeFailure('peer', null),
    bytesAnswer,
  ];
  for (const whole of frames) {
    for (let length = frameHeaderBytes; length < whole.length; length++) {
      assert.equal(decode(whole.subarray(0, length)), 'length');
    }
    assert.equal(decode(Buffer.concat([whole, new Uint8Array(1)])), 'length');
  }
});

test('figures, flags and bodies that make no sense are refused', () => {
  const changed = (bytes: Uint8Array, at: number, ...values: number[]): string => {
    bytes.set(values, at);
    const answer = decode(bytes);
    return typeof answer === 'string' ? answer : answer.kind;
  };
  const high = frameHeaderBytes + 4;
  for (const field of [0, 8, 32, 40, 48]) {
    assert.equal(changed(encodeMetadata(1, 2), high + field + 3, 1), 'figure');
  }
  assert.equal(changed(encodeMetadata(1, 2, metadata.size, 0), 12, 1), 'figure');
  assert.equal(changed(encodeMetadata(1, 2), 5, 32), 'reserved');
  assert.equal(changed(encodeMetadata(1, 2), frameHeaderBytes + 58, 1), 'reserved');
  assert.equal(changed(encodeFailure('busy', null), frameHeaderBytes, 6), 'figure');
  assert.equal(changed(encodeFailure('busy', null), frameHeaderBytes + 1, 2), 'figure');
  assert.equal(changed(encodeFailure('busy', null), frameHeaderBytes + 6, 1), 'reserved');
  assert.equal(changed(encodeFailure('busy', null), 5, 1), 'reserved');
  assert.equal(changed(encodeFailure('busy', null), 12, 1), 'limit');
  assert.equal(changed(encodeFailure('origin', notFound), frameHeaderBytes + 1, 0), 'figure');
  assert.equal(changed(encodeFailure('busy', null), 4, 99), 'reserved', 'a mark on no answer');
  assert.equal(changed(encodeFailure('busy', null), 4, 99, 0, 0, 0), 'type');
});
