// The bytes of an object. Content never changes once it is stored, so answers in flight, copies and
// multipart objects share it without copying.
import { createHash } from 'node:crypto';
import { S3Error } from '../s3-error.ts';
import { seededRandom } from '../random.ts';

export interface Content {
  readonly size: number;
  /** False where the bytes were counted but not kept. */
  readonly readable: boolean;
  /** The bytes of the half-open range, in slices that must not be written to. */
  slices(start: number, end: number): Iterable<Buffer>;
}

/** What an upload is written into; `finish` turns it into content. */
export interface ContentSink {
  append(bytes: Buffer): void;
  finish(): Content;
}

const segmentBytes = 4 * 1024 * 1024;

/** Bytes in memory, in segments so that no single allocation grows with the object. */
class MemoryContent implements Content {
  readonly size: number;
  readonly readable = true;
  readonly #segments: readonly Buffer[];

  constructor(segments: readonly Buffer[], size: number) {
    this.#segments = segments;
    this.size = size;
  }

  *slices(start: number, end: number): Iterable<Buffer> {
    let at = start;
    while (at < end) {
      const within = at % segmentBytes;
      const segment = this.#segments[Math.floor(at / segmentBytes)]!;
      const slice = segment.subarray(within, Math.min(segment.length, within + (end - at)));
      yield slice;
      at += slice.length;
    }
  }
}

/** Keeps an upload. Memory: the object, plus at most one segment that isn't full. */
export class MemorySink implements ContentSink {
  readonly #segments: Buffer[] = [];
  #filled = segmentBytes;
  #size = 0;
  readonly #expectedBytes: number;

  constructor(expectedBytes: number) {
    this.#expectedBytes = expectedBytes;
  }

  append(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0) {
      if (this.#filled === segmentBytes) {
        const remaining = Math.max(this.#expectedBytes - this.#size, rest.length);
        this.#segments.push(Buffer.allocUnsafeSlow(Math.min(segmentBytes, remaining)));
        this.#filled = 0;
      }
      const segment = this.#roomInLast(rest.length);
      const taken = rest.copy(segment, this.#filled);
      this.#filled += taken;
      this.#size += taken;
      rest = rest.subarray(taken);
    }
  }

  // The last segment was cut to the announced size: a longer upload needs it grown to a full one.
  #roomInLast(wanted: number): Buffer {
    const last = this.#segments.length - 1;
    const segment = this.#segments[last]!;
    if (this.#filled < segment.length || wanted === 0) return segment;
    const grown = Buffer.allocUnsafeSlow(segmentBytes);
    segment.copy(grown);
    this.#segments[last] = grown;
    return grown;
  }

  finish(): Content {
    const last = this.#segments.length - 1;
    if (last >= 0) this.#segments[last] = this.#segments[last]!.subarray(0, this.#filled);
    return new MemoryContent(this.#segments, this.#size);
  }
}

/** Content of known bytes. The caller must not change them afterwards. */
export function contentFrom(bytes: Uint8Array): Content {
  const sink = new MemorySink(bytes.length);
  sink.append(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return sink.finish();
}

/** What remains of an upload into a discarding bucket: its size. */
class DiscardedContent implements Content {
  readonly size: number;
  readonly readable = false;

  constructor(size: number) {
    this.size = size;
  }

  slices(start: number, end: number): Iterable<Buffer> {
    if (start === end) return [];
    throw new S3Error('NotImplemented', 'The bytes of this object were discarded.');
  }
}

/** Counts an upload and forgets its bytes. */
export class DiscardSink implements ContentSink {
  #size = 0;

  append(bytes: Buffer): void {
    this.#size += bytes.length;
  }

  finish(): Content {
    return new DiscardedContent(this.#size);
  }
}

/** Several contents one after the other: a multipart object. */
export class JoinedContent implements Content {
  readonly size: number;
  readonly readable: boolean;
  readonly #parts: readonly Content[];

  constructor(parts: readonly Content[]) {
    this.#parts = parts;
    this.size = parts.reduce((sum, part) => sum + part.size, 0);
    this.readable = parts.every((part) => part.readable);
  }

  *slices(start: number, end: number): Iterable<Buffer> {
    let offset = 0;
    for (const part of this.#parts) {
      const from = Math.max(start - offset, 0);
      const to = Math.min(end - offset, part.size);
      if (from < to) yield* part.slices(from, to);
      offset += part.size;
      if (offset >= end) return;
    }
  }
}

/** A range of another content: a copied part. */
export class ContentRange implements Content {
  readonly size: number;
  readonly readable: boolean;
  readonly #whole: Content;
  readonly #start: number;

  constructor(whole: Content, start: number, end: number) {
    this.#whole = whole;
    this.#start = start;
    this.size = end - start;
    this.readable = whole.readable;
  }

  slices(start: number, end: number): Iterable<Buffer> {
    return this.#whole.slices(this.#start + start, this.#start + end);
  }
}

// Prime, so that the same place in two blocks or chunks never holds the same bytes.
const patternBytes = 1048573;
const lineBytes = 512;
const sliceBytes = 1024 * 1024;
let sharedPattern: Buffer | null = null;

/**
 * Bytes computed from (name, offset): a huge object that takes no memory. One pattern of a prime length
 * repeats, begun where the name's hash says, and every 512-byte line starts with its own offset and the
 * name's hash (eight bytes each, offset little-endian): a byte from the wrong place or object shows.
 */
export class SyntheticContent implements Content {
  readonly size: number;
  readonly readable = true;
  readonly #nameHash: Buffer;
  readonly #phase: number;

  constructor(name: string, size: number) {
    this.size = size;
    this.#nameHash = createHash('md5').update(name).digest().subarray(0, 8);
    this.#phase = this.#nameHash.readUInt32LE() % patternBytes;
  }

  *slices(start: number, end: number): Iterable<Buffer> {
    for (let at = start; at < end; at += sliceBytes) {
      yield this.#fill(at, Math.min(end, at + sliceBytes));
    }
  }

  #fill(start: number, end: number): Buffer {
    // Whole lines are made, then cut: no line's head is ever written half.
    const first = start - (start % lineBytes);
    const bytes = Buffer.allocUnsafeSlow(Math.ceil((end - first) / lineBytes) * lineBytes);
    sharedPattern ??= makePattern();
    for (let done = 0; done < bytes.length;) {
      const from = (first + done + this.#phase) % patternBytes;
      done += sharedPattern.copy(bytes, done, from);
    }
    const low = this.#nameHash.readUInt32LE();
    const high = this.#nameHash.readUInt32LE(4);
    for (let line = 0; line < bytes.length; line += lineBytes) {
      bytes.writeUInt32LE((first + line) % 4294967296, line);
      bytes.writeUInt32LE(Math.floor((first + line) / 4294967296), line + 4);
      bytes.writeUInt32LE(low, line + 8);
      bytes.writeUInt32LE(high, line + 12);
    }
    return bytes.subarray(start - first, end - first);
  }
}

function makePattern(): Buffer {
  const random = seededRandom(1);
  const pattern = Buffer.allocUnsafeSlow(patternBytes);
  for (let at = 0; at < patternBytes; at++) pattern[at] = random() * 256;
  return pattern;
}
