/**
 * Decoders against arbitrary bytes: none throws, none reads outside of [start, end), and what one accepts encodes back to
 * the same bytes. Runs about two seconds; FUZZ_SECONDS makes it longer, FUZZ_SEED repeats a run.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newNodeMessage } from '@s3-accelerator/core/node-message.ts';
import { newReadAnswer } from '@s3-accelerator/core/read.ts';
import * as bucketMarks from './bucket-mark.ts';
import type { FrameHeader } from './frame.ts';
import { decodeFrameHeader, frameHeaderBytes, FrameType, newFrameHeader } from './frame.ts';
import * as handshake from './handshake.ts';
import * as messages from './node-message.ts';
import * as passThrough from './pass-through.ts';
import * as answers from './read-answer.ts';
import * as requests from './read-request.ts';

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 2);
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 0x7fff_ffff);

let state = seed >>> 0;
/** A whole number below `limit`. */
function random(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 0x1_0000_0000) * limit);
}

const hash = { h0: 1, h1: 2, h2: 3, h3: 4 };
const metadata = {
  etag: '"e"',
  size: 50,
  lastModified: 9,
  headerLines: new Uint8Array(7).fill(65),
  knowsChecksums: true,
  version: hash,
};
const request = {
  kind: 'blocks' as const,
  bucket: 'bucket',
  key: 'key',
  hash,
  onlyHeld: false,
  standsIn: true,
  confirmedWithinMs: 5,
  failedEtag: '"f"',
  bodyLimit: 10,
  needsChecksums: false,
  rangeKind: 'bounded' as const,
  first: 3,
  last: 10,
  partLast: 20,
  version: hash,
  etag: '"e"',
  size: 21,
};
const error = { status: 500, code: 'X', headerLines: new Uint8Array(3), body: new Uint8Array(4) };
const hint = { remainingMs: 10, nodes: [1, 2, 3] };
const told = {
  ...newNodeMessage(),
  from: 1,
  placement: { hi: 2, lo: 3 },
  turn: 4,
  leaseMs: 5,
  hash,
};
const nonce = new Uint8Array(32).fill(7);

/** Writes one frame of a random kind, unharmed. */
function writeSample(into: Uint8Array): number {
  const head = { method: 'PUT', bucket: 'b', key: 'k', target: '/b/k', headers: ['a', 'b'] };
  const writers: readonly (() => number)[] = [
    () => requests.encodeReadRequest(into, 0, 1, request),
    () => requests.encodeReadRequest(into, 0, 2, { ...request, kind: 'lookup' }),
    () => answers.encodeMetadataAnswer(into, 0, 3, metadata, 4, 5, 6, 7, 8),
    () => answers.encodeFailureAnswer(into, 0, 4, 'origin', error, 9),
    () => answers.encodeFailureAnswer(into, 0, 5, 'busy', null, 0),
    () => answers.encodeBytesAnswer(into, 0, 6, 100, 0xffff),
    () => answers.encodeBytesAnswer(into, 0, 6, 100, 0xffff, hint),
    () => answers.encodeMetadataAnswer(into, 0, 3, metadata, 4, 5, 6, 7, 8, hint),
    () => answers.encodeBytesAnswer(into, 0, 6, 100, 0xffff, null, 'fetched'),
    () => answers.encodeMetadataAnswer(into, 0, 3, metadata, 4, 5, 6, 7, 8, hint, 'kept'),
    () => messages.encodeNodeMessage(into, 0, { ...told, kind: 'lease' }),
    () => messages.encodeNodeMessage(into, 0, { ...told, kind: 'accepted' }),
    () => messages.encodeNodeMessage(into, 0, { ...told, kind: 'refused' }),
    () => messages.encodeNodeMessage(into, 0, { ...told, kind: 'report' }),
    () => messages.encodeNodeMessage(into, 0, { ...told, kind: 'written' }),
    () => {
      const frame = bucketMarks.encodeBucketMark(0x1234_5678_9abc);
      into.set(frame);
      return frame.length;
    },
    () => handshake.encodeHello(into, 0, { version: 1, purpose: 'forward', nonce }),
    () => handshake.encodeChallenge(into, 0, { version: 1, nonce, mac: nonce }),
    () => handshake.encodeResponse(into, 0, nonce),
    () => handshake.encodeRefused(into, 0, { reason: 'full', version: 3 }),
    () => passThrough.encodeRequestHead(into, 0, { ...head, bodyLength: 12 }),
    () => passThrough.encodeResponseHead(into, 0, 200, ['a', 'b', 'c', 'd']),
    () => passThrough.encodeResponseFailed(into, 0, { code: 'c', message: 'm' }),
  ];
  return writers[random(writers.length)]!();
}

const header: FrameHeader = newFrameHeader();
const view = new requests.ReadRequestView();
const answer = newReadAnswer();
const message = newNodeMessage();
const out = new Uint8Array(64 * 1024);

function unlessFault<T>(decoded: T | string, encode: (value: T) => number): number {
  return typeof decoded === 'string' ? -1 : encode(decoded);
}

function encodeAnswer(id: number, ringMark: number): number {
  const {
    metadata: object,
    ageMs,
    lifetimeMs,
    bodyFirst,
    bodyLength,
    failure,
    hot,
    source,
  } = answer;
  switch (answer.kind) {
    case 'bytes':
      return answers.encodeBytesAnswer(out, 0, id, bodyLength, ringMark, hot, source);
    case 'failure':
      return answers.encodeFailureAnswer(out, 0, id, failure, answer.error, ringMark);
    case 'metadata':
      assert.ok(object !== null);
      return answers.encodeMetadataAnswer(
        out,
        0,
        id,
        object,
        ageMs,
        lifetimeMs,
        bodyFirst,
        bodyLength,
        ringMark,
        hot,
        source,
      );
  }
}

/** Decodes bytes [start, end) by the header's type and encodes it again into `out`; -1 when it was refused. */
function recode(bytes: Uint8Array, start: number, end: number): number {
  switch (header.type) {
    case FrameType.readBlocks:
    case FrameType.readLookup:
      if (view.decode(bytes, start, end, header) !== null) return -1;
      return requests.encodeReadRequest(out, 0, header.requestId, view);
    case FrameType.answerBytes:
    case FrameType.answerFailure:
    case FrameType.answerMetadata:
      if (answers.decodeReadAnswer(bytes, start, end, header, answer) !== null) return -1;
      return encodeAnswer(header.requestId, header.ringMark);
    case FrameType.hello:
      return unlessFault(handshake.decodeHello(bytes, start, end), (hello) =>
        handshake.encodeHello(out, 0, hello),
      );
    case FrameType.challenge:
      return unlessFault(handshake.decodeChallenge(bytes, start, end), (challenge) =>
        handshake.encodeChallenge(out, 0, challenge),
      );
    case FrameType.response:
      return unlessFault(handshake.decodeResponse(bytes, start, end), (mac) =>
        handshake.encodeResponse(out, 0, mac),
      );
    case FrameType.refused:
      return unlessFault(handshake.decodeRefused(bytes, start, end), (refusal) =>
        handshake.encodeRefused(out, 0, refusal),
      );
    case FrameType.requestHead:
      return unlessFault(passThrough.decodeRequestHead(bytes, start, end, header), (head) =>
        passThrough.encodeRequestHead(out, 0, head),
      );
    case FrameType.responseHead:
      return unlessFault(
        passThrough.decodeResponseHead(bytes, start, end, header),
        ({ status, headers }) => passThrough.encodeResponseHead(out, 0, status, headers),
      );
    case FrameType.responseFailed:
      return unlessFault(passThrough.decodeResponseFailed(bytes, start, end), (failure) =>
        passThrough.encodeResponseFailed(out, 0, failure),
      );
    case FrameType.bucketMark:
      return unlessFault(bucketMarks.decodeBucketMark(bytes, start, end, header), (mark) => {
        const frame = bucketMarks.encodeBucketMark(mark);
        out.set(frame);
        return frame.length;
      });
    case FrameType.leaseGranted:
    case FrameType.leaseAccepted:
    case FrameType.leaseReport:
    case FrameType.written:
    case FrameType.leaseRefused:
      if (messages.decodeNodeMessage(bytes, start, end, header, message) !== null) return -1;
      return messages.encodeNodeMessage(out, 0, message);
    default:
      return -1;
  }
}

/** Harms a frame of `length` bytes: flips, cuts, stretches. Returns its new length. */
function harm(bytes: Uint8Array, length: number): number {
  let end = length;
  for (let count = random(4); count > 0; count--) {
    const at = random(end);
    const choice = random(5);
    if (choice === 0) bytes[at] = random(256);
    else if (choice === 1) bytes[at] = bytes[at]! ^ (1 << random(8));
    else if (choice === 2) bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random(5)]!;
    else if (choice === 3) end = Math.max(frameHeaderBytes, at);
    else end = Math.min(bytes.length, end + random(20));
  }
  return end;
}

test(`no frame breaks a decoder (seed ${seed})`, () => {
  const until = performance.now() + seconds * 1000;
  const bytes = new Uint8Array(1024);
  let frames = 0;
  let accepted = 0;
  while (performance.now() < until) {
    for (let index = 0; index < bytes.length; index++) bytes[index] = random(256);
    const length = harm(bytes, writeSample(bytes));
    // The frame ends where the memory does: a read beyond it gives NaN or 0, and shows in what is encoded again.
    const frame = bytes.slice(0, length);
    frames += 1;
    if (decodeFrameHeader(frame, 0, header) !== null) continue;
    const end = recode(frame, frameHeaderBytes, length);
    if (end < 0) continue;
    accepted += 1;
    // Lengths are the link's business, and so is the request id of frames that have no use for one.
    assert.equal(end, length);
    const isRead = header.type >= FrameType.readLookup && header.type < FrameType.requestHead;
    const from = isRead ? 4 : frameHeaderBytes;
    assert.deepEqual(out.subarray(from, end), frame.subarray(from, end));
  }
  assert.ok(accepted > frames / 10, `only ${accepted} of ${frames} frames were accepted`);
});
