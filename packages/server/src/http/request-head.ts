/**
 * A parsed request head: offsets into the bytes it was parsed from, no copies.
 *
 * One record is reused for all requests of a server. It is valid only while the bytes are, which is the call that it is
 * handed to; whoever needs more copies it (`rawHeaders`, `target`). Text comes out as binary strings, one character for
 * each byte. Memory: about 4 KiB, once.
 */
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { headerSlotCount } from './header-slots.ts';

export type RequestMethod = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE' | 'OPTIONS' | 'other';

/** How the end of the body is known. `none` means that no byte follows the head. */
export type BodyFraming = 'none' | 'length' | 'chunked';

export const maxHeaders = 128;

/** Int32 words for each header: name start, name end, value start, value end. */
export const headerStride = 4;

export class RequestHead {
  /** The bytes that all offsets point into. */
  bytes: Uint8Array = new Uint8Array(0);
  /** The same memory, for cutting strings out of it. */
  text: Buffer = Buffer.alloc(0);

  method: RequestMethod = 'other';
  /** 1 for HTTP/1.1, 0 for HTTP/1.0. */
  minorVersion = 1;
  methodStart = 0;
  methodEnd = 0;
  /** Path and query as received; of an absolute-form target what follows the authority. */
  targetStart = 0;
  targetEnd = 0;
  /** End of the path: the first `?`, or the target's end. */
  pathEnd = 0;
  /** The path is only unreserved characters and slashes: it is its own canonical form. */
  pathIsCanonical = true;

  headerCount = 0;
  readonly headers = new Int32Array(maxHeaders * headerStride);
  /** Hash of each header's folded name, see header-slots.ts. */
  readonly nameHashes = new Int32Array(maxHeaders);
  /** Slot + 1 of each header, 0 for names that have none. */
  readonly headerSlots = new Uint8Array(maxHeaders);
  /** Position + 1 of the first header in each slot, 0 when absent. */
  readonly slots = new Uint8Array(headerSlotCount);

  framing: BodyFraming = 'none';
  /** Bytes of the body when `framing` is `length`, else 0. */
  contentLength = 0;
  expectContinue = false;
  /** Whether the connection may carry another request after this one. */
  keepAlive = true;
  /** Where the first byte behind the head is. */
  end = 0;
  /** Why the head was refused, when it was. */
  error: ErrorCode = 'BadRequest';

  has(slot: number): boolean {
    return this.slots[slot] !== 0;
  }

  /** Start of the slot's (first) value in `bytes`; meaningful only when there is one. */
  valueStart(slot: number): number {
    return this.headers[(this.slots[slot]! - 1) * headerStride + 2]!;
  }

  valueEnd(slot: number): number {
    return this.headers[(this.slots[slot]! - 1) * headerStride + 3]!;
  }

  /** The slot's value, or null; values of a repeated list header are joined by commas. */
  header(slot: number): string | null {
    if (this.slots[slot] === 0) return null;
    let joined: string | null = null;
    for (let index = this.slots[slot]! - 1; index < this.headerCount; index += 1) {
      if (this.headerSlots[index] !== slot + 1) continue;
      const value = this.value(index);
      joined = joined === null ? value : `${joined},${value}`;
    }
    return joined;
  }

  /** The name of the header at a position, as sent. */
  name(index: number): string {
    const at = index * headerStride;
    return this.text.toString('latin1', this.headers[at], this.headers[at + 1]);
  }

  /** The value of the header at a position, without the white space around it. */
  value(index: number): string {
    const at = index * headerStride;
    return this.text.toString('latin1', this.headers[at + 2], this.headers[at + 3]);
  }

  methodText(): string {
    return this.text.toString('latin1', this.methodStart, this.methodEnd);
  }

  /** Path and query, byte for byte. */
  target(): string {
    return this.text.toString('latin1', this.targetStart, this.targetEnd);
  }

  path(): string {
    return this.text.toString('latin1', this.targetStart, this.pathEnd);
  }

  /** The raw query without its `?`, or null when there is none. */
  query(): string | null {
    return this.pathEnd === this.targetEnd
      ? null
      : this.text.toString('latin1', this.pathEnd + 1, this.targetEnd);
  }

  /** Name, value, name, value, …: all headers as sent, repeated ones too. */
  rawHeaders(): string[] {
    const raw: string[] = [];
    for (let index = 0; index < this.headerCount; index += 1) {
      raw.push(this.name(index), this.value(index));
    }
    return raw;
  }
}
