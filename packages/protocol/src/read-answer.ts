/**
 * Read answers on the wire: metadata of an object, bytes of a version, or why there are none.
 *
 *     metadata  size u64, lastModified u64, version 16, ageMs u64, lifetimeMs u64, bodyFirst u64, etag length u16,
 *               zero u16, header length u32, etag, header lines; then `bodyLength` body bytes
 *               flag 1: immutable (lifetimeMs is Infinity); flag 2: knows checksums
 *     bytes     nothing; then `bodyLength` body bytes, those that were asked for
 *     both      flag 4: a hot hint ends the payload (hot-hint.ts); flag 8: the body was fetched for this read; flag 16: and is kept
 *     failure   kind u8, with error u8, status u16, code length u16, zero u16, header length u32, body length u32, code,
 *               header lines, error body
 *
 * Each carries the mark of the ring that the node places by in its frame header.
 *
 * Ages are rounded up and lifetimes down, so that crossing the wire never makes metadata look fresher than it is.
 */
import type {
  BodySource,
  HotHint,
  ObjectMetadata,
  OriginError,
  ReadAnswer,
  ReadFailure,
} from '@s3-accelerator/core/read.ts';
import {
  readBinary,
  readHash,
  readU16,
  readU32,
  readU64,
  writeBinary,
  writeBytes,
  writeHash,
  writeU16,
  writeU32,
  writeU64,
} from './bytes.ts';
import type { FrameFault, FrameHeader } from './frame.ts';
import { encodeFrameHeader, frameHeaderBytes, FrameType } from './frame.ts';
import { decodeHint, encodeHint, hintBytes, sendableHint } from './hot-hint.ts';

const metadataFixedBytes = 64;
const failureFixedBytes = 16;
const immutableFlag = 1;
const knowsChecksumsFlag = 2;
const hintFlag = 4;
const fetchedFlag = 8;
const keptFlag = 16;
const bytesFlags = hintFlag | fetchedFlag | keptFlag;
const metadataFlags = immutableFlag | knowsChecksumsFlag | bytesFlags;

const sourceFlags: Readonly<Record<BodySource, number>> = {
  slot: 0,
  fetched: fetchedFlag,
  kept: fetchedFlag | keptFlag,
};

/** Null for flags that contradict each other. */
function sourceOf(flags: number): BodySource | null {
  const isFetched = (flags & fetchedFlag) !== 0;
  if ((flags & keptFlag) !== 0) return isFetched ? 'kept' : null;
  return isFetched ? 'fetched' : 'slot';
}
const failures: readonly ReadFailure[] = [
  'changed',
  'uncacheable',
  'busy',
  'origin',
  'peer',
  'absent',
];

/** Bytes that a metadata answer's frame takes at most, without its body. */
export function metadataAnswerBound(
  { etag, headerLines }: ObjectMetadata,
  hint: HotHint | null = null,
): number {
  const fixed = frameHeaderBytes + metadataFixedBytes + hintBytes(hint);
  return fixed + etag.length + headerLines.length;
}

/** Writes a metadata answer; `bodyLength` bytes of the object from `bodyFirst` must be sent right behind it. */
export function encodeMetadataAnswer(
  into: Uint8Array,
  start: number,
  requestId: number,
  metadata: ObjectMetadata,
  ageMs: number,
  lifetimeMs: number,
  bodyFirst: number,
  bodyLength: number,
  ringMark: number,
  hot: HotHint | null = null,
  source: BodySource = 'slot',
): number {
  const hint = sendableHint(hot);
  const immutable = lifetimeMs === Infinity;
  let at = start + frameHeaderBytes;
  at = writeU64(into, at, metadata.size);
  // A date before 1970 doesn't fit and counts as unknown.
  at = writeU64(into, at, Math.max(0, metadata.lastModified));
  at = writeHash(into, at, metadata.version);
  at = writeU64(into, at, Math.ceil(ageMs));
  at = writeU64(into, at, immutable ? 0 : Math.floor(lifetimeMs));
  at = writeU64(into, at, bodyFirst);
  at = writeU16(into, at, metadata.etag.length);
  at = writeU16(into, at, 0);
  at = writeU32(into, at, metadata.headerLines.length);
  at = writeBinary(into, at, metadata.etag);
  at = writeBytes(into, at, metadata.headerLines);
  if (hint !== null) at = encodeHint(into, at, hint);
  const payload = at - start - frameHeaderBytes;
  const flags =
    (immutable ? immutableFlag : 0) |
    (metadata.knowsChecksums ? knowsChecksumsFlag : 0) |
    (hint === null ? 0 : hintFlag) |
    sourceFlags[source];
  const { answerMetadata } = FrameType;
  encodeFrameHeader(into, start, answerMetadata, flags, requestId, payload, bodyLength, ringMark);
  return at;
}

/** Bytes that a bytes answer's frame takes at most, without its body. */
export function bytesAnswerBound(hint: HotHint | null = null): number {
  return frameHeaderBytes + hintBytes(hint);
}

/** Writes a bytes answer; `bodyLength` bytes must be sent right behind it. */
export function encodeBytesAnswer(
  into: Uint8Array,
  start: number,
  requestId: number,
  bodyLength: number,
  ringMark: number,
  hot: HotHint | null = null,
  source: BodySource = 'slot',
): number {
  const { answerBytes } = FrameType;
  const hint = sendableHint(hot);
  const flags = (hint === null ? 0 : hintFlag) | sourceFlags[source];
  const payload = hintBytes(hint);
  encodeFrameHeader(into, start, answerBytes, flags, requestId, payload, bodyLength, ringMark);
  const at = start + frameHeaderBytes;
  return hint === null ? at : encodeHint(into, at, hint);
}

export function failureAnswerBound(error: OriginError | null): number {
  const variable =
    error === null ? 0 : error.code.length + error.headerLines.length + error.body.length;
  return frameHeaderBytes + failureFixedBytes + variable;
}

export function encodeFailureAnswer(
  into: Uint8Array,
  start: number,
  requestId: number,
  failure: ReadFailure,
  error: OriginError | null,
  ringMark: number,
): number {
  let at = start + frameHeaderBytes;
  into[at] = failures.indexOf(failure);
  into[at + 1] = error === null ? 0 : 1;
  at = writeU16(into, at + 2, error?.status ?? 0);
  at = writeU16(into, at, error?.code.length ?? 0);
  at = writeU16(into, at, 0);
  at = writeU32(into, at, error?.headerLines.length ?? 0);
  at = writeU32(into, at, error?.body.length ?? 0);
  if (error !== null) {
    at = writeBinary(into, at, error.code);
    at = writeBytes(into, at, error.headerLines);
    at = writeBytes(into, at, error.body);
  }
  const payload = at - start - frameHeaderBytes;
  encodeFrameHeader(into, start, FrameType.answerFailure, 0, requestId, payload, 0, ringMark);
  return at;
}

/**
 * Reads the payload [start, end) of an answer's frame into a reused record. Returns null, or what is wrong with it.
 * `bodyFirst` of a bytes answer isn't on the wire: the asker knows it.
 */
export function decodeReadAnswer(
  bytes: Uint8Array,
  start: number,
  end: number,
  header: FrameHeader,
  into: ReadAnswer,
): FrameFault | null {
  into.metadata = null;
  into.error = null;
  into.bodyLength = header.bodyLength;
  into.hot.remainingMs = 0;
  into.source = 'slot';
  switch (header.type) {
    case FrameType.answerBytes: {
      into.kind = 'bytes';
      const source = sourceOf(header.flags);
      if ((header.flags & ~bytesFlags) !== 0 || source === null) return 'reserved';
      into.source = source;
      if ((header.flags & hintFlag) !== 0) return decodeHint(bytes, start, end, into.hot);
      return start === end ? null : 'length';
    }
    case FrameType.answerMetadata:
      return decodeMetadata(bytes, start, end, header, into);
    case FrameType.answerFailure:
      return decodeFailure(bytes, start, end, header, into);
    default:
      return 'type';
  }
}

function decodeMetadata(
  bytes: Uint8Array,
  start: number,
  end: number,
  header: FrameHeader,
  into: ReadAnswer,
): FrameFault | null {
  if (end - start < metadataFixedBytes) return 'length';
  const source = sourceOf(header.flags);
  if ((header.flags & ~metadataFlags) !== 0 || source === null) return 'reserved';
  into.source = source;
  if (readU16(bytes, start + 58) !== 0) return 'reserved';
  const etagStart = start + metadataFixedBytes;
  const headersStart = etagStart + readU16(bytes, start + 56);
  const headersEnd = headersStart + readU32(bytes, start + 60);
  const isHinted = (header.flags & hintFlag) !== 0;
  if (isHinted ? headersEnd > end : headersEnd !== end) return 'length';

  const size = readU64(bytes, start);
  const lastModified = readU64(bytes, start + 8);
  const version = { h0: 0, h1: 0, h2: 0, h3: 0 };
  readHash(bytes, start + 16, version);
  into.kind = 'metadata';
  into.ageMs = readU64(bytes, start + 32);
  const lifetimeMs = readU64(bytes, start + 40);
  const immutable = (header.flags & immutableFlag) !== 0;
  into.lifetimeMs = immutable ? Infinity : lifetimeMs;
  into.bodyFirst = readU64(bytes, start + 48);
  if (size < 0 || lastModified < 0 || into.ageMs < 0 || lifetimeMs < 0) return 'figure';
  if (immutable && lifetimeMs !== 0) return 'figure';
  if (into.bodyFirst < 0 || into.bodyFirst + header.bodyLength > size) return 'figure';
  into.metadata = {
    etag: readBinary(bytes, etagStart, headersStart),
    size,
    lastModified,
    headerLines: bytes.slice(headersStart, headersEnd),
    knowsChecksums: (header.flags & knowsChecksumsFlag) !== 0,
    version,
  };
  return isHinted ? decodeHint(bytes, headersEnd, end, into.hot) : null;
}

function decodeFailure(
  bytes: Uint8Array,
  start: number,
  end: number,
  header: FrameHeader,
  into: ReadAnswer,
): FrameFault | null {
  if (end - start < failureFixedBytes) return 'length';
  if (header.bodyLength !== 0) return 'limit';
  if (header.flags !== 0 || readU16(bytes, start + 6) !== 0) return 'reserved';
  const failure = failures[bytes[start]!];
  const withError = bytes[start + 1]!;
  if (failure === undefined || withError > 1) return 'figure';
  const codeStart = start + failureFixedBytes;
  const headersStart = codeStart + readU16(bytes, start + 4);
  const bodyStart = headersStart + readU32(bytes, start + 8);
  if (bodyStart + readU32(bytes, start + 12) !== end) return 'length';

  into.kind = 'failure';
  into.failure = failure;
  const status = readU16(bytes, start + 2);
  if (withError === 0) {
    if (status !== 0) return 'figure';
    return end === codeStart ? null : 'length';
  }
  into.error = {
    status,
    code: readBinary(bytes, codeStart, headersStart),
    headerLines: bytes.slice(headersStart, bodyStart),
    body: bytes.slice(bodyStart, end),
  };
  return null;
}
