/**
 * One HTTP request passed through a node to the origin, and its answer, on a link of its own.
 *
 *     asker → requestHead, requestBody × n, requestEnd           ← responseHead, responseBody × n, responseEnd
 *                                                                ← responseFailed in place of whatever was to come
 *
 * Bodies are frames with an empty payload and `bodyLength` bytes. There is no credit: an end that can't take more stops
 * reading its socket, and TCP holds the other. There is no abort frame either: an end that gives up resets the link, which
 * can't be mistaken for a complete body because the end frame is missing.
 *
 *     requestHead     body length u64, then four counted fields: method, bucket, key, target, and the headers as one count
 *                     u32 followed by name, value, …       flag 1: no body (bodyLength is null)
 *     responseHead    status u16, zero u16, header count u32, name, value, …
 *     responseFailed  code, message
 *
 * A counted field is a u32 length and that many bytes. Strings are binary: one character a byte, exact both ways.
 */
import { readBinary, readU16, readU32, readU64 } from './bytes.ts';
import { writeBinary, writeU16, writeU32, writeU64 } from './bytes.ts';
import type { FrameFault, FrameHeader } from './frame.ts';
import { encodeFrameHeader, frameHeaderBytes, FrameType } from './frame.ts';

/** A request as the gateway's client sent it: target and headers untouched, raw name, value, name, value, … */
export interface PassThroughRequest {
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  readonly target: string;
  readonly headers: readonly string[];
  /** Exact length of the body; null when there is none. */
  readonly bodyLength: number | null;
}

export interface PassThroughResponse {
  readonly status: number;
  readonly headers: string[];
}

export interface PassThroughFailure {
  readonly code: string;
  readonly message: string;
}

const noBodyFlag = 1;

function fieldsLength(fields: readonly string[]): number {
  let length = 0;
  for (const field of fields) length += 4 + field.length;
  return length;
}

function writeField(into: Uint8Array, at: number, text: string): number {
  return writeBinary(into, writeU32(into, at, text.length), text);
}

function writeHeaders(into: Uint8Array, start: number, headers: readonly string[]): number {
  let at = writeU32(into, start, headers.length);
  for (const text of headers) at = writeField(into, at, text);
  return at;
}

/** Exact bytes of a request head's frame. Above `maxPayloadBytes` of payload the other end refuses it. */
export function requestHeadBytes(request: PassThroughRequest): number {
  const { method, bucket, key, target, headers } = request;
  return (
    frameHeaderBytes + 12 + fieldsLength([method, bucket, key, target]) + fieldsLength(headers)
  );
}

export function encodeRequestHead(
  into: Uint8Array,
  start: number,
  request: PassThroughRequest,
): number {
  let at = writeU64(into, start + frameHeaderBytes, request.bodyLength ?? 0);
  at = writeField(into, at, request.method);
  at = writeField(into, at, request.bucket);
  at = writeField(into, at, request.key);
  at = writeField(into, at, request.target);
  at = writeHeaders(into, at, request.headers);
  const flags = request.bodyLength === null ? noBodyFlag : 0;
  const payload = at - start - frameHeaderBytes;
  encodeFrameHeader(into, start, FrameType.requestHead, flags, 0, payload, 0);
  return at;
}

export function responseHeadBytes(headers: readonly string[]): number {
  return frameHeaderBytes + 8 + fieldsLength(headers);
}

export function encodeResponseHead(
  into: Uint8Array,
  start: number,
  status: number,
  headers: readonly string[],
): number {
  let at = writeU16(into, start + frameHeaderBytes, status);
  at = writeU16(into, at, 0);
  at = writeHeaders(into, at, headers);
  const payload = at - start - frameHeaderBytes;
  encodeFrameHeader(into, start, FrameType.responseHead, 0, 0, payload, 0);
  return at;
}

export function responseFailedBytes(failure: PassThroughFailure): number {
  return frameHeaderBytes + 8 + failure.code.length + failure.message.length;
}

export function encodeResponseFailed(
  into: Uint8Array,
  start: number,
  failure: PassThroughFailure,
): number {
  let at = writeField(into, start + frameHeaderBytes, failure.code);
  at = writeField(into, at, failure.message);
  const payload = at - start - frameHeaderBytes;
  encodeFrameHeader(into, start, FrameType.responseFailed, 0, 0, payload, 0);
  return at;
}

/** Writes the header of a body frame; `bodyLength` bytes must be sent right behind it. */
export function encodeBodyFrame(
  into: Uint8Array,
  start: number,
  type: typeof FrameType.requestBody | typeof FrameType.responseBody,
  bodyLength: number,
): number {
  return encodeFrameHeader(into, start, type, 0, 0, 0, bodyLength);
}

/** Takes counted fields one by one; past the payload's end it gives '' and remembers that the frame is broken. */
class FieldReader {
  at: number;
  broken = false;
  readonly #bytes: Uint8Array;
  readonly #end: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.at = start;
    this.#end = end;
  }

  count(): number {
    if (this.#end - this.at < 4) {
      this.broken = true;
      return 0;
    }
    this.at += 4;
    return readU32(this.#bytes, this.at - 4);
  }

  text(): string {
    const length = this.count();
    if (length > this.#end - this.at) {
      this.broken = true;
      return '';
    }
    this.at += length;
    return readBinary(this.#bytes, this.at - length, this.at);
  }

  /** Name, value, …: an even number of fields. */
  headers(): string[] {
    const count = this.count();
    const headers: string[] = [];
    if (count % 2 !== 0) this.broken = true;
    while (headers.length < count && !this.broken) headers.push(this.text());
    return headers;
  }

  get whole(): boolean {
    return !this.broken && this.at === this.#end;
  }
}

export function decodeRequestHead(
  bytes: Uint8Array,
  start: number,
  end: number,
  header: FrameHeader,
): PassThroughRequest | FrameFault {
  if (end - start < 8) return 'length';
  if (header.bodyLength !== 0) return 'limit';
  if (header.flags > noBodyFlag) return 'reserved';
  const bodyLength = readU64(bytes, start);
  const noBody = header.flags === noBodyFlag;
  if (bodyLength < 0 || (noBody && bodyLength !== 0)) return 'figure';
  const fields = new FieldReader(bytes, start + 8, end);
  const request = {
    method: fields.text(),
    bucket: fields.text(),
    key: fields.text(),
    target: fields.text(),
    headers: fields.headers(),
    bodyLength: noBody ? null : bodyLength,
  };
  return fields.whole ? request : 'length';
}

export function decodeResponseHead(
  bytes: Uint8Array,
  start: number,
  end: number,
  header: FrameHeader,
): PassThroughResponse | FrameFault {
  if (end - start < 4) return 'length';
  if (header.bodyLength !== 0) return 'limit';
  if (header.flags !== 0 || readU16(bytes, start + 2) !== 0) return 'reserved';
  const fields = new FieldReader(bytes, start + 4, end);
  const response = { status: readU16(bytes, start), headers: fields.headers() };
  if (response.status < 100 || response.status > 999) return 'figure';
  return fields.whole ? response : 'length';
}

export function decodeResponseFailed(
  bytes: Uint8Array,
  start: number,
  end: number,
): PassThroughFailure | FrameFault {
  const fields = new FieldReader(bytes, start, end);
  const failure = { code: fields.text(), message: fields.text() };
  return fields.whole ? failure : 'length';
}
