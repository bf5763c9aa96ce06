/**
 * SigV4's canonical request, built byte by byte in the digester's scratch memory.
 *
 * The path is written in S3's canonical form (decoded, and encoded again) or as sent: clients exist that sign either.
 * Taking both is safe, since either form decodes to the one key that was signed. Header values are folded here only;
 * what is stored and forwarded stays as sent.
 *
 * Room: each byte of a head grows to three at most and each header is written once, so `maxCanonicalBytes` always do.
 */
import { hexValue, isUnreserved, percentEncode } from '@s3-accelerator/core/s3/percent-encoding.ts';
import type { QueryParameter } from '@s3-accelerator/core/s3/query.ts';
import { foldedNameByte, nameHash, nameHashStep } from '../http/header-slots.ts';
import { headerStride, maxHeaders, type RequestHead } from '../http/request-head.ts';
import { maxHeadBytes } from '../http/request-parser.ts';

export const maxCanonicalBytes = 4 * maxHeadBytes;

const SP = 0x20;
const HT = 0x09;
const LF = 0x0a;
const slash = 0x2f;
const percent = 0x25;
const equals = 0x3d;
const semicolon = 0x3b;
const colon = 0x3a;
const comma = 0x2c;
const upperHex = Uint8Array.from(Buffer.from('0123456789ABCDEF', 'latin1'));
const hostName = Uint8Array.from(Buffer.from('host', 'latin1'));
const hostHash = nameHash(hostName, 0, hostName.length);

export class CanonicalRequest {
  readonly scratch: Uint8Array;
  /** Where the next byte goes. */
  position = 0;
  /** By position: 1 for the headers that `signedHeaders` wrote. */
  readonly isSigned = new Uint8Array(maxHeaders);
  /** Whether `signedHeaders` met `host`. */
  hostIsSigned = false;

  constructor(scratch: Uint8Array) {
    this.scratch = scratch;
  }

  bytes(from: Uint8Array, start: number, end: number): void {
    const scratch = this.scratch;
    let out = this.position;
    for (let at = start; at < end; at += 1) {
      scratch[out] = from[at]!;
      out += 1;
    }
    this.position = out;
  }

  /** Appends ASCII text. */
  text(text: string): void {
    for (let at = 0; at < text.length; at += 1) this.byte(text.charCodeAt(at));
  }

  byte(byte: number): void {
    this.scratch[this.position] = byte;
    this.position += 1;
  }

  pathAsSent(head: RequestHead): void {
    this.bytes(head.bytes, head.targetStart, head.pathEnd);
  }

  /** Appends the path in canonical form; false when an escape in it is malformed. */
  path(head: RequestHead): boolean {
    if (head.pathIsCanonical) {
      this.pathAsSent(head);
      return true;
    }
    const bytes = head.bytes;
    for (let at = head.targetStart; at < head.pathEnd; at += 1) {
      let byte = bytes[at]!;
      if (byte === percent) {
        if (at + 2 >= head.pathEnd) return false;
        const high = hexValue(bytes[at + 1]!);
        const low = hexValue(bytes[at + 2]!);
        if (high < 0 || low < 0) return false;
        byte = high * 16 + low;
        at += 2;
      }
      if (isUnreserved[byte] === 1 || byte === slash) {
        this.byte(byte);
      } else {
        this.byte(percent);
        this.byte(upperHex[byte >> 4]!);
        this.byte(upperHex[byte & 15]!);
      }
    }
    return true;
  }

  /** Appends the canonical form of any query, which leaves out a presigned signature itself. */
  query(parameters: readonly QueryParameter[]): void {
    const encoded = parameters
      .filter((parameter) => parameter.name !== 'X-Amz-Signature')
      .map(({ name, value }): [string, string] => [
        percentEncode(name, false),
        percentEncode(value, false),
      ]);
    encoded.sort(([name, value], [otherName, otherValue]) =>
      name === otherName ? compare(value, otherValue) : compare(name, otherName),
    );
    this.text(encoded.map(([name, value]) => `${name}=${value}`).join('&'));
  }

  /**
   * Appends `name:value\n` for each name of the `;`-separated list in `list[start, end)`. False when the list isn't
   * strictly ascending or names a header that isn't there: no signature over it can be right.
   */
  signedHeaders(head: RequestHead, list: Uint8Array, start: number, end: number): boolean {
    this.isSigned.fill(0, 0, head.headerCount);
    this.hostIsSigned = false;
    let previous = -1;
    for (let from = start; from < end;) {
      let to = from;
      let hash = 0;
      for (let byte; to < end && (byte = list[to]!) !== semicolon; to += 1) {
        hash = nameHashStep(hash, byte);
      }
      if (previous >= 0 && !ascends(list, previous, from - 1, from, to)) return false;
      if (!this.#signedHeader(head, hash, list, from, to)) return false;
      previous = from;
      from = to + 1;
    }
    return true;
  }

  #signedHeader(
    head: RequestHead,
    hash: number,
    list: Uint8Array,
    from: number,
    to: number,
  ): boolean {
    const { nameHashes, headerCount } = head;
    const start = this.position;
    for (let index = 0; index < headerCount; index += 1) {
      if (nameHashes[index] !== hash || !isNamed(head, index, list, from, to)) continue;
      if (this.position > start) {
        this.byte(comma);
      } else {
        this.bytes(list, from, to);
        this.byte(colon);
        if (hash === hostHash && to - from === hostName.length) this.hostIsSigned = true;
      }
      this.#folded(
        head.bytes,
        head.headers[index * headerStride + 2]!,
        head.headers[index * headerStride + 3]!,
      );
      this.isSigned[index] = 1;
    }
    if (this.position === start) return false;
    this.byte(LF);
    return true;
  }

  /** Appends a header's value with each run of white space as one space. */
  #folded(bytes: Uint8Array, start: number, end: number): void {
    const scratch = this.scratch;
    let out = this.position;
    for (let at = start; at < end; at += 1) {
      let byte = bytes[at]!;
      if (byte <= SP) {
        // A value holds no control characters but tabs, and no white space at its ends.
        while (bytes[at + 1] === SP || bytes[at + 1] === HT) at += 1;
        byte = SP;
      }
      scratch[out] = byte;
      out += 1;
    }
    this.position = out;
  }
}

/**
 * Whether the head's query is its own canonical form because it is one `name=value` of unreserved characters, as most
 * queries of SDKs are (`x-id=GetObject`).
 */
export function isPlainQuery(head: RequestHead): boolean {
  const bytes = head.bytes;
  const start = head.pathEnd + 1;
  let signs = 0;
  for (let at = start; at < head.targetEnd; at += 1) {
    const byte = bytes[at]!;
    if (byte === equals) signs += 1;
    else if (isUnreserved[byte] !== 1) return false;
  }
  return signs === 1 && bytes[start] !== equals;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Whether the header at a position has the lower-case name in `list[from, to)`. */
function isNamed(
  head: RequestHead,
  index: number,
  list: Uint8Array,
  from: number,
  to: number,
): boolean {
  const start = head.headers[index * headerStride]!;
  if (head.headers[index * headerStride + 1]! - start !== to - from) return false;
  for (let at = 0; at < to - from; at += 1) {
    if (foldedNameByte[head.bytes[start + at]!] !== list[from + at]) return false;
  }
  return true;
}

/** Whether the name in `list[start, end)` sorts before the one in `list[nextStart, nextEnd)`. */
function ascends(
  list: Uint8Array,
  start: number,
  end: number,
  nextStart: number,
  nextEnd: number,
): boolean {
  for (let at = 0; nextStart + at < nextEnd; at += 1) {
    if (start + at >= end) return true;
    const one = list[start + at]!;
    const next = list[nextStart + at]!;
    if (one !== next) return one < next;
  }
  return false;
}
