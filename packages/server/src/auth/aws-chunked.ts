/**
 * The decoder of aws-chunked, the framing that SDKs put around streamed uploads:
 *
 *     SIZE[;chunk-signature=HEX]\r\n DATA \r\n … 0[;chunk-signature=HEX]\r\n [name:value\r\n]… \r\n
 *
 * Incremental: bytes may come in any pieces, and only an incomplete line is copied. It knows the framing alone; what
 * signatures and trailers must be is body-verifier.ts's business, which hears of them in order.
 *
 * State machine: size → data → dataEnd → size … size of 0 → trailer (→ trailer)* → done. Anything else is an error.
 */
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';

/** Bytes of a chunk's size line: 12 digits and a signature are 94. */
const maxSizeLineBytes = 256;
const maxTrailerBytes = 8_192;

/** Hears of what was decoded; a code stops the decoding. */
export interface AwsChunkedSink {
  /** A chunk of `size` bytes begins; the last one has none. `signature` is '' when it carries none. */
  onChunk(size: number, signature: string): ErrorCode | null;
  /** Bytes of the current chunk: a view, valid during the call. */
  onBytes(bytes: Uint8Array): void;
  /** All bytes of the current chunk were given, or it is the last. */
  onChunkEnd(): ErrorCode | null;
  /** A trailer; the name is in lower case. */
  onTrailer(name: string, value: string): ErrorCode | null;
  /** An empty line behind the last chunk: whether that was the end. Signed trailers may have one in their midst. */
  endsHere(): boolean;
}

const sizeLine = /^([0-9a-fA-F]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?$/;
const trailerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e]*?)[ \t]*$/;

type Stage = 'size' | 'data' | 'dataEnd' | 'trailer' | 'done';

const CR = 0x0d;
const LF = 0x0a;

export class AwsChunkedDecoder {
  readonly #sink: AwsChunkedSink;
  #stage: Stage = 'size';
  /** Bytes of the current chunk that are still to come. */
  #left = 0;
  /** The line so far, when it isn't complete. */
  #line = '';
  #trailerBytes = 0;

  constructor(sink: AwsChunkedSink) {
    this.#sink = sink;
  }

  get done(): boolean {
    return this.#stage === 'done';
  }

  push(bytes: Uint8Array): ErrorCode | null {
    let at = 0;
    while (at < bytes.length) {
      if (this.#stage === 'done') return 'IncompleteBody';
      if (this.#stage === 'data') {
        const take = Math.min(this.#left, bytes.length - at);
        this.#sink.onBytes(bytes.subarray(at, at + take));
        at += take;
        this.#left -= take;
        if (this.#left > 0) continue;
        this.#stage = 'dataEnd';
        const error = this.#sink.onChunkEnd();
        if (error !== null) return error;
        continue;
      }
      const lineFeed = bytes.indexOf(LF, at);
      const end = lineFeed < 0 ? bytes.length : lineFeed;
      const limit = this.#stage === 'trailer' ? maxTrailerBytes : maxSizeLineBytes;
      if (this.#line.length + end - at > limit) return 'InvalidRequest';
      this.#line += latin1(bytes, at, end);
      if (lineFeed < 0) return null;
      at = lineFeed + 1;
      const error = this.#endOfLine();
      if (error !== null) return error;
    }
    return null;
  }

  #endOfLine(): ErrorCode | null {
    const hasReturn = this.#line.charCodeAt(this.#line.length - 1) === CR;
    const line = hasReturn ? this.#line.slice(0, -1) : this.#line;
    this.#line = '';
    switch (this.#stage) {
      case 'size':
        return hasReturn ? this.#chunk(line) : 'InvalidRequest';
      case 'dataEnd':
        this.#stage = 'size';
        return hasReturn && line === '' ? null : 'InvalidRequest';
      case 'trailer':
        // Trailer lines are also seen with a bare LF, and with an empty line before their signature.
        return this.#trailer(line);
      case 'data':
      case 'done':
        return 'IncompleteBody';
    }
  }

  #chunk(line: string): ErrorCode | null {
    const match = sizeLine.exec(line);
    if (match === null) return 'InvalidRequest';
    this.#left = Number.parseInt(match[1]!, 16);
    const error = this.#sink.onChunk(this.#left, match[2] ?? '');
    if (error !== null) return error;
    if (this.#left > 0) {
      this.#stage = 'data';
      return null;
    }
    this.#stage = 'trailer';
    return this.#sink.onChunkEnd();
  }

  #trailer(line: string): ErrorCode | null {
    this.#trailerBytes += line.length + 2;
    if (this.#trailerBytes > maxTrailerBytes) return 'MalformedTrailerError';
    if (line === '') {
      if (this.#sink.endsHere()) this.#stage = 'done';
      return null;
    }
    const match = trailerLine.exec(line);
    if (match === null) return 'MalformedTrailerError';
    return this.#sink.onTrailer(match[1]!.toLowerCase(), match[2]!);
  }
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}
