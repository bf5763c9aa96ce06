import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newHotHint, newReadAnswer, type HotHint } from '@s3-accelerator/core/read.ts';
import fc from 'fast-check';
import { decodeFrameHeader, frameHeaderBytes, newFrameHeader } from './frame.ts';
import { decodeHint, encodeHint, hintBytes } from './hot-hint.ts';
import {
  bytesAnswerBound,
  decodeReadAnswer,
  encodeBytesAnswer,
  encodeMetadataAnswer,
  metadataAnswerBound,
} from './read-answer.ts';

const hint: HotHint = { remainingMs: 2500.9, nodes: [7, 65_535, 4_000_000_000] };
const metadata = {
  etag: '"e"',
  size: 9,
  lastModified: 1,
  headerLines: new Uint8Array([65, 13, 10]),
  knowsChecksums: true,
  version: { h0: 1, h1: 2, h2: 3, h3: 4 },
};
const mark = 0xbeef;

function decodeAnswer(bytes: Uint8Array): ReturnType<typeof newReadAnswer> | string {
  const header = newFrameHeader();
  const answer = newReadAnswer();
  const fault = decodeFrameHeader(bytes, 0, header);
  if (fault !== null) return fault;
  return decodeReadAnswer(bytes, frameHeaderBytes, bytes.length, header, answer) ?? answer;
}

function bytesAnswer(hot: HotHint): Uint8Array {
  const bytes = new Uint8Array(bytesAnswerBound(hot));
  return bytes.subarray(0, encodeBytesAnswer(bytes, 0, 3, 4096, mark, hot));
}

function metadataAnswer(hot: HotHint): Uint8Array {
  const bytes = new Uint8Array(metadataAnswerBound(metadata, hot));
  return bytes.subarray(0, encodeMetadataAnswer(bytes, 0, 3, metadata, 4, 5, 0, 9, mark, hot));
}

test('a bytes answer with a hint has these bytes', () => {
  assert.equal(
    Buffer.from(bytesAnswer(hint)).toString('hex'),
    '14000000' +
      '19' +
      '04' +
      'efbe' +
      '03000000' +
      '00100000' +
      'c4090000' +
      '0300' +
      '0000' +
      '07000000' +
      'ffff0000' +
      '00286bee',
  );
});

test('both kinds of answers bring their hint, rounded down, and those without one bring none', () => {
  for (const bytes of [bytesAnswer(hint), metadataAnswer(hint)]) {
    const answer = decodeAnswer(bytes);
    assert.ok(typeof answer === 'object');
    assert.deepEqual(answer.hot, { remainingMs: 2500, nodes: hint.nodes });
    if (answer.kind === 'metadata') assert.deepEqual(answer.metadata, metadata);
  }
  const over: HotHint = { remainingMs: 0.9, nodes: [1, 2] };
  for (const bytes of [bytesAnswer(over), metadataAnswer(over)]) {
    const answer = decodeAnswer(bytes);
    assert.ok(typeof answer === 'object');
    assert.equal(answer.hot.remainingMs, 0);
  }
});

test('a record that had a hint loses it with the next answer', () => {
  const answer = newReadAnswer();
  const header = newFrameHeader();
  for (const [bytes, remainingMs] of [
    [bytesAnswer(hint), 2500],
    [bytesAnswer(newHotHint()), 0],
  ] as const) {
    assert.equal(decodeFrameHeader(bytes, 0, header), null);
    assert.equal(decodeReadAnswer(bytes, frameHeaderBytes, bytes.length, header, answer), null);
    assert.equal(answer.hot.remainingMs, remainingMs);
  }
});

test('any hint comes back as it was sent', () => {
  const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
  const hints = fc.record(
    {
      remainingMs: fc.integer({ min: 1, max: 0xffff_ffff }),
      nodes: fc.array(u32, { minLength: 2, maxLength: 9 }),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(hints, (sent) => {
      const bytes = new Uint8Array(hintBytes(sent));
      assert.equal(encodeHint(bytes, 0, sent), bytes.length);
      const read = newHotHint();
      assert.equal(decodeHint(bytes, 0, bytes.length, read), null);
      assert.deepEqual(read, sent);
    }),
  );
});

test('hints that make no sense are refused, and those that are cut or stretched', () => {
  const bytes = new Uint8Array(hintBytes(hint));
  encodeHint(bytes, 0, hint);
  const faultOf = (change: (copy: Uint8Array) => Uint8Array): string | null => {
    const copy = change(bytes.slice());
    return decodeHint(copy, 0, copy.length, newHotHint());
  };
  const set = (at: number, value: number) => (copy: Uint8Array) => {
    copy[at] = value;
    return copy;
  };
  for (let length = 0; length < bytes.length; length++) {
    assert.equal(
      faultOf((copy) => copy.subarray(0, length)),
      'length',
    );
  }
  assert.equal(
    faultOf((copy) => new Uint8Array([...copy, 0])),
    'length',
  );
  assert.equal(faultOf(set(4, 2)), 'length');
  assert.equal(faultOf(set(6, 1)), 'reserved');
  assert.equal(
    faultOf((copy) => copy.fill(0, 0, 4)),
    'figure',
    'no time is left',
  );
  const alone = new Uint8Array(12);
  alone.set([1, 0, 0, 0, 1]);
  assert.equal(decodeHint(alone, 0, 12, newHotHint()), 'figure', 'one node is no hint');
  const many = new Uint8Array(8 + 4 * 10);
  many.set([1, 0, 0, 0, 10]);
  assert.equal(decodeHint(many, 0, many.length, newHotHint()), 'figure', 'more than may be');
});
