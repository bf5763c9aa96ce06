/**
 * The request-head parser: HTTP/1.1 and 1.0, strict, straight from bytes into a reused record.
 *
 * Strict because this is a proxy: wherever two readers could disagree about where a request ends, it is refused (bare LF,
 * folded lines, white space before a colon, two lengths, a length beside a transfer coding, any coding but `chunked`).
 *
 * Invariants:
 * - The outcome depends only on the bytes, never on how they were split: a line is judged once its LF is there, and
 *   limits are judged at fixed distances from the head's beginning.
 * - It reads only `bytes[start, end)`, never throws and allocates nothing.
 * - Bytes that arrive one at a time cost linear work: `HeadProgress` remembers what was seen, and a head is parsed anew
 *   only when another line is complete, of which there are about `maxHeaders` at most.
 */
import { HeaderSlot, findSlot, foldedNameByte, isSingleton, nameHashStep } from './header-slots.ts';
import { headerStride, maxHeaders, type RequestHead, type RequestMethod } from './request-head.ts';
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';

/** Bytes of a whole head at most: request line and headers. */
export const maxHeadBytes = 16_384;
/** Bytes of the header lines at most; S3's own limit. */
export const maxHeaderSectionBytes = 8_192;
const maxMethodBytes = 32;
const maxEmptyLines = 2;
/** 2^53 - 1 has 16 digits. */
const maxLengthDigits = 16;

export type ParseResult = 'complete' | 'incomplete' | 'bad';

/** What a connection remembers about a head that isn't complete. Reset it for each head. */
export interface HeadProgress {
  /** Bytes from the head's beginning that were looked at. */
  scanned: number;
  /** Length at which the head is too large, complete or not. */
  limit: number;
}

export function newHeadProgress(): HeadProgress {
  return { scanned: 0, limit: maxHeadBytes };
}

const CR = 0x0d;
const LF = 0x0a;
const SP = 0x20;
const HT = 0x09;

/** What a byte of a target is. */
const Target = { illegal: 0, canonical: 1, other: 2, query: 3 } as const;
const targetClass = new Uint8Array(256);
// Printable ASCII but `#`, which would begin a fragment; bytes above 127, as sent by clients that don't encode UTF-8.
for (let code = 0x21; code <= 0xff; code += 1) {
  if (code !== 0x7f && code !== 0x23) targetClass[code] = Target.other;
}
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/') {
  targetClass[character.charCodeAt(0)] = Target.canonical;
}
targetClass[0x3f] = Target.query;

/** 1 for bytes that a header value may hold: printable, space, tab, above 127. */
const isValueByte = new Uint8Array(256);
for (let code = 0x20; code <= 0xff; code += 1) isValueByte[code] = code === 0x7f ? 0 : 1;
isValueByte[HT] = 1;

const ascii = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const methods: readonly (readonly [RequestMethod, Uint8Array])[] = (
  ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS'] as const
).map((name) => [name, ascii(name)]);
const httpVersion = ascii('HTTP/1.');
const chunkedName = ascii('chunked');
const continueName = ascii('100-continue');
const closeName = ascii('close');
const keepAliveName = ascii('keep-alive');
const http = ascii('http://');
const https = ascii('https://');

/** Whether `bytes[start, end)` is `word` (lower case), in any case. */
function isWord(bytes: Uint8Array, start: number, end: number, word: Uint8Array): boolean {
  return end - start === word.length && startsWithWord(bytes, start, end, word);
}

function startsWithWord(bytes: Uint8Array, start: number, end: number, word: Uint8Array): boolean {
  if (end - start < word.length) return false;
  for (let at = 0; at < word.length; at += 1) {
    const code = bytes[start + at]!;
    if ((code >= 0x41 && code <= 0x5a ? code | 0x20 : code) !== word[at]) return false;
  }
  return true;
}

function lineFeedWithin(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === LF) return true;
  return false;
}

/** In place of a position: not all bytes of the line are there. */
const unfinished = -1;
/** In place of a position: the line is complete and wrong; `head.error` says how. */
const broken = -2;

export class RequestParser {
  readonly head: RequestHead;

  #bytes: Uint8Array;
  /** First byte that may not be read: the end of the bytes, or of what a head may take. */
  #window = 0;
  /** The end of the bytes; beyond `#window` when the head has reached a limit. */
  #end = 0;
  /** Where the limit that applies to the current line lies. */
  #limitEnd = 0;
  #sawClose = false;
  #sawKeepAlive = false;
  #authorityStart = 0;
  #authorityEnd = 0;

  constructor(head: RequestHead) {
    this.head = head;
    this.#bytes = head.bytes;
  }

  /**
   * Parses the head that begins at `start`. `text` is the same memory as `bytes`. After `complete`, `head` is filled and
   * `head.end` is the first byte behind it; after `bad`, `head.error` says why, and the connection can't go on.
   */
  parse(
    bytes: Uint8Array,
    text: Buffer,
    start: number,
    end: number,
    progress: HeadProgress,
  ): ParseResult {
    const length = end - start;
    const seen = progress.scanned;
    if (seen > 0 && length < progress.limit && !lineFeedWithin(bytes, start + seen, end)) {
      progress.scanned = length;
      return 'incomplete';
    }
    const head = this.head;
    head.bytes = bytes;
    head.text = text;
    this.#bytes = bytes;
    this.#end = end;
    const result = this.#parse(start, start + maxHeadBytes);
    if (result === 'incomplete') {
      progress.scanned = length;
      progress.limit = this.#limitEnd - start;
    }
    return result;
  }

  #limitTo(limitEnd: number): void {
    this.#limitEnd = limitEnd;
    this.#window = Math.min(this.#end, limitEnd);
  }

  #parse(start: number, headLimit: number): ParseResult {
    const head = this.head;
    const bytes = this.#bytes;
    this.#limitTo(headLimit);
    let at = start;
    // Empty lines before a request are skipped: old clients send one behind a body.
    for (let empty = 0; empty < maxEmptyLines; empty += 1) {
      if (at + 1 < this.#window && bytes[at] === CR && bytes[at + 1] === LF) at += 2;
    }
    const line = this.#requestLine(at);
    if (line < 0) return this.#verdict(line, 'InvalidURI');
    at = line;
    this.#limitTo(Math.min(headLimit, at + maxHeaderSectionBytes));

    head.headerCount = 0;
    head.slots.fill(0);
    this.#sawClose = false;
    this.#sawKeepAlive = false;
    for (;;) {
      if (at + 1 < this.#window && bytes[at] === CR && bytes[at + 1] === LF) {
        head.end = at + 2;
        return this.#finish() ? 'complete' : 'bad';
      }
      const next = this.#headerLine(at);
      if (next < 0) return this.#verdict(next, 'RequestHeaderSectionTooLarge');
      at = next;
    }
  }

  /** Turns a negative position into the result; `tooLarge` is the error of a line that didn't end within the limit. */
  #verdict(position: number, tooLarge: ErrorCode): ParseResult {
    if (position === broken) return 'bad';
    if (this.#window === this.#limitEnd) {
      this.head.error = tooLarge;
      return 'bad';
    }
    return 'incomplete';
  }

  /** A line is wrong at `at`: broken once its LF is there, unfinished before. */
  #wrong(at: number, error: ErrorCode = 'BadRequest'): number {
    if (!lineFeedWithin(this.#bytes, at, this.#window)) return unfinished;
    this.head.error = error;
    return broken;
  }

  /** Parses `METHOD SP target SP HTTP/1.x CRLF` at `start`; returns the position behind it. */
  #requestLine(start: number): number {
    const head = this.head;
    const bytes = this.#bytes;
    const window = this.#window;
    let at = start;
    while (at < window && at - start < maxMethodBytes && foldedNameByte[bytes[at]!] !== 0) at += 1;
    if (at >= window) return unfinished;
    if (at === start || bytes[at] !== SP) return this.#wrong(at);
    head.methodStart = start;
    head.methodEnd = at;
    head.method = this.#method(start, at);
    at = this.#target(at + 1);
    if (at < 0) return at;
    at += 1;
    for (let index = 0; index < httpVersion.length; index += 1, at += 1) {
      if (at >= window) return unfinished;
      if (bytes[at] !== httpVersion[index]) return this.#wrong(at);
    }
    if (at >= window) return unfinished;
    const minor = bytes[at]! - 0x30;
    if (minor !== 0 && minor !== 1) return this.#wrong(at);
    head.minorVersion = minor;
    return this.#lineEnd(at + 1);
  }

  #method(start: number, end: number): RequestMethod {
    const bytes = this.#bytes;
    for (const [method, name] of methods) {
      if (end - start !== name.length) continue;
      let index = 0;
      while (index < name.length && bytes[start + index] === name[index]) index += 1;
      if (index === name.length) return method;
    }
    return 'other';
  }

  /** Parses a target at `start`; returns the position of the space behind it. */
  #target(start: number): number {
    const head = this.head;
    const bytes = this.#bytes;
    const window = this.#window;
    let at = start;
    this.#authorityStart = 0;
    this.#authorityEnd = 0;
    if (at >= window) return unfinished;
    if (bytes[at] !== 0x2f) {
      at = this.#authority(start);
      if (at < 0) return at;
    }
    head.targetStart = at;
    let kinds = 0;
    let kind;
    while (at < window && (kind = targetClass[bytes[at]!]!) < Target.query && kind !== 0) {
      kinds |= kind;
      at += 1;
    }
    head.pathIsCanonical = kinds === Target.canonical;
    head.pathEnd = at;
    while (at < window && targetClass[bytes[at]!] !== Target.illegal) at += 1;
    if (at >= window) return unfinished;
    if (bytes[at] !== SP) return this.#wrong(at);
    head.targetEnd = at;
    return at;
  }

  /** Skips `http://authority` of an absolute-form target; returns the position of its path. */
  #authority(start: number): number {
    const bytes = this.#bytes;
    const window = this.#window;
    let at = start;
    while (at < window && targetClass[bytes[at]!] !== Target.illegal) at += 1;
    const end = at;
    if (end >= window) return unfinished;
    const scheme = startsWithWord(bytes, start, end, http)
      ? http.length
      : startsWithWord(bytes, start, end, https)
        ? https.length
        : 0;
    if (scheme === 0) return this.#wrong(end);
    at = start + scheme;
    this.#authorityStart = at;
    while (at < end && bytes[at] !== 0x2f && bytes[at] !== 0x3f) at += 1;
    this.#authorityEnd = at;
    // S3 clients always send the slash; without one the canonical form of the path would have to be made up.
    return at > start + scheme && at < end && bytes[at] === 0x2f ? at : this.#wrong(end);
  }

  #lineEnd(at: number): number {
    if (at >= this.#window) return unfinished;
    if (this.#bytes[at] !== CR) return this.#wrong(at);
    if (at + 1 >= this.#window) return unfinished;
    return this.#bytes[at + 1] === LF ? at + 2 : this.#wrong(at + 1);
  }

  /** Parses `name: value CRLF` at `start`; returns the position behind it. */
  #headerLine(start: number): number {
    const head = this.head;
    const bytes = this.#bytes;
    const window = this.#window;
    let at = start;
    let hash = 0;
    let folded;
    while (at < window && (folded = foldedNameByte[bytes[at]!]!) !== 0) {
      hash = nameHashStep(hash, folded);
      at += 1;
    }
    if (at >= window) return unfinished;
    if (at === start || bytes[at] !== 0x3a) return this.#wrong(at);
    const nameEnd = at;
    at += 1;
    while (at < window && (bytes[at] === SP || bytes[at] === HT)) at += 1;
    const valueStart = at;
    while (at < window && isValueByte[bytes[at]!] === 1) at += 1;
    const rawEnd = at;
    const next = this.#lineEnd(at);
    if (next < 0) return next;
    let valueEnd = rawEnd;
    while (valueEnd > valueStart && (bytes[valueEnd - 1] === SP || bytes[valueEnd - 1] === HT)) {
      valueEnd -= 1;
    }
    const index = head.headerCount;
    if (index === maxHeaders) {
      head.error = 'RequestHeaderSectionTooLarge';
      return broken;
    }
    const entry = index * headerStride;
    head.headers[entry] = start;
    head.headers[entry + 1] = nameEnd;
    head.headers[entry + 2] = valueStart;
    head.headers[entry + 3] = valueEnd;
    head.nameHashes[index] = hash;
    head.headerCount = index + 1;
    const slot = findSlot(bytes, start, nameEnd, hash);
    head.headerSlots[index] = slot + 1;
    if (slot >= 0 && !this.#file(slot, index, nameEnd, rawEnd)) return this.#wrong(rawEnd);
    return next;
  }

  /** Files a header under its slot; false when it may not be there. */
  #file(slot: number, index: number, nameEnd: number, rawEnd: number): boolean {
    const head = this.head;
    if (head.slots[slot] === 0) head.slots[slot] = index + 1;
    else if (isSingleton[slot] === 1) return false;
    if (slot === HeaderSlot.connection) {
      this.#connectionOptions(head.headers[index * headerStride + 2]!, rawEnd);
    } else if (slot === HeaderSlot['transfer-encoding'] || slot === HeaderSlot['content-length']) {
      // A tab is white space to some readers and part of the value to others.
      for (let at = nameEnd; at < rawEnd; at += 1) if (this.#bytes[at] === HT) return false;
    }
    return true;
  }

  #connectionOptions(start: number, end: number): void {
    const bytes = this.#bytes;
    let at = start;
    while (at < end) {
      let comma = at;
      while (comma < end && bytes[comma] !== 0x2c) comma += 1;
      let from = at;
      let to = comma;
      while (from < to && (bytes[from] === SP || bytes[from] === HT)) from += 1;
      while (to > from && (bytes[to - 1] === SP || bytes[to - 1] === HT)) to -= 1;
      if (isWord(bytes, from, to, closeName)) this.#sawClose = true;
      else if (isWord(bytes, from, to, keepAliveName)) this.#sawKeepAlive = true;
      at = comma + 1;
    }
  }

  /** The checks that need all headers: host, framing, expectation. False with `head.error` set. */
  #finish(): boolean {
    const head = this.head;
    const bytes = this.#bytes;
    head.error = 'BadRequest';
    head.keepAlive =
      head.minorVersion === 1 ? !this.#sawClose : this.#sawKeepAlive && !this.#sawClose;
    if (!head.has(HeaderSlot.host)) {
      if (head.minorVersion === 1 || this.#authorityEnd > 0) return false;
    } else if (this.#authorityEnd > 0 && !this.#authorityIsHost()) {
      return false;
    }
    head.framing = 'none';
    head.contentLength = 0;
    if (head.has(HeaderSlot['transfer-encoding'])) {
      const start = head.valueStart(HeaderSlot['transfer-encoding']);
      const end = head.valueEnd(HeaderSlot['transfer-encoding']);
      if (head.minorVersion === 0 || head.has(HeaderSlot['content-length'])) return false;
      if (!isWord(bytes, start, end, chunkedName)) return false;
      head.framing = 'chunked';
    } else if (head.has(HeaderSlot['content-length'])) {
      const length = this.#length(
        head.valueStart(HeaderSlot['content-length']),
        head.valueEnd(HeaderSlot['content-length']),
      );
      if (length < 0) return false;
      head.contentLength = length;
      if (length > 0) head.framing = 'length';
    }
    head.expectContinue = false;
    if (head.has(HeaderSlot.expect) && head.minorVersion === 1) {
      const start = head.valueStart(HeaderSlot.expect);
      if (!isWord(bytes, start, head.valueEnd(HeaderSlot.expect), continueName)) {
        head.error = 'ExpectationFailed';
        return false;
      }
      head.expectContinue = head.framing !== 'none';
    }
    return true;
  }

  #authorityIsHost(): boolean {
    const bytes = this.#bytes;
    const start = this.head.valueStart(HeaderSlot.host);
    const length = this.head.valueEnd(HeaderSlot.host) - start;
    if (this.#authorityEnd - this.#authorityStart !== length) return false;
    for (let at = 0; at < length; at += 1) {
      const one = bytes[this.#authorityStart + at]!;
      const other = bytes[start + at]!;
      if ((foldedNameByte[one] || one) !== (foldedNameByte[other] || other)) return false;
    }
    return true;
  }

  /** The number in `bytes[start, end)`, or -1 when it isn't only digits or is beyond exact integers. */
  #length(start: number, end: number): number {
    if (end === start || end - start > maxLengthDigits) return -1;
    let length = 0;
    for (let at = start; at < end; at += 1) {
      const digit = this.#bytes[at]! - 0x30;
      if (digit < 0 || digit > 9) return -1;
      length = length * 10 + digit;
    }
    return length <= Number.MAX_SAFE_INTEGER ? length : -1;
  }
}
