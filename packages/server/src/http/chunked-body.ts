/**
 * The decoder of chunked transfer coding: incremental, strict, bounded.
 *
 * It emits ranges of the bytes it is given, copies nothing, and accepts only what every reader would read the same way:
 * sizes of at most 12 hexadecimal digits, CRLF everywhere, no bare LF. Chunk extensions and trailers are checked,
 * bounded and dropped: S3's own trailers travel inside of aws-chunked, not here.
 *
 * State machine: size → (extension) → sizeEnd → data → dataEnd → dataLineFeed → size …
 *                size of the last chunk → trailerStart → (trailerName → trailerValue → trailerLineFeed)* → endLineFeed → done
 */
import { foldedNameByte } from './header-slots.ts';
import { hexValue } from '@s3-accelerator/core/s3/percent-encoding.ts';

/** Enough for any object S3 can hold, and exact in a double. */
const maxSizeDigits = 12;
/** Bytes of all chunk extensions of a body. */
const maxExtensionBytes = 16_384;
const maxTrailerBytes = 8_192;

const CR = 0x0d;
const LF = 0x0a;

type Stage =
  | 'size'
  | 'extension'
  | 'sizeLineFeed'
  | 'data'
  | 'dataEnd'
  | 'dataLineFeed'
  | 'trailerStart'
  | 'trailerName'
  | 'trailerValue'
  | 'trailerLineFeed'
  | 'endLineFeed'
  | 'done'
  | 'broken';

/** Receives decoded bytes as ranges of what was pushed. */
export type EmitRange = (start: number, end: number) => void;

export class ChunkedBody {
  #stage: Stage = 'size';
  #digits = 0;
  #size = 0;
  #extensionBytes = 0;
  #trailerBytes = 0;

  reset(): void {
    this.#stage = 'size';
    this.#digits = 0;
    this.#size = 0;
    this.#extensionBytes = 0;
    this.#trailerBytes = 0;
  }

  /** The last chunk and its trailers were read. */
  get done(): boolean {
    return this.#stage === 'done';
  }

  /**
   * Decodes `bytes[start, end)` and returns the position behind the last byte that belongs to the body: `end`, or less
   * once `done`. -1 when the coding is broken: nothing behind it can be trusted.
   */
  push(bytes: Uint8Array, start: number, end: number, emit: EmitRange): number {
    let at = start;
    while (at < end && this.#stage !== 'done') {
      if (this.#stage === 'data') {
        const take = Math.min(this.#size, end - at);
        emit(at, at + take);
        at += take;
        this.#size -= take;
        if (this.#size === 0) this.#stage = 'dataEnd';
        continue;
      }
      this.#stage = this.#next(bytes[at]!);
      if (this.#stage === 'broken') return -1;
      at += 1;
    }
    return at;
  }

  /** The stage behind one byte of framing. */
  #next(byte: number): Stage {
    switch (this.#stage) {
      case 'size':
        return this.#sizeByte(byte);
      case 'extension':
        this.#extensionBytes += 1;
        if (byte === CR) return 'sizeLineFeed';
        return isTextByte(byte) && this.#extensionBytes <= maxExtensionBytes
          ? 'extension'
          : 'broken';
      case 'sizeLineFeed':
        if (byte !== LF) return 'broken';
        this.#digits = 0;
        return this.#size === 0 ? 'trailerStart' : 'data';
      case 'dataEnd':
        return byte === CR ? 'dataLineFeed' : 'broken';
      case 'dataLineFeed':
        return byte === LF ? 'size' : 'broken';
      case 'trailerStart':
        if (byte === CR) return 'endLineFeed';
        return this.#trailerByte() && foldedNameByte[byte] !== 0 ? 'trailerName' : 'broken';
      case 'trailerName':
        if (!this.#trailerByte()) return 'broken';
        if (byte === 0x3a) return 'trailerValue';
        return foldedNameByte[byte] !== 0 ? 'trailerName' : 'broken';
      case 'trailerValue':
        if (!this.#trailerByte()) return 'broken';
        if (byte === CR) return 'trailerLineFeed';
        return isTextByte(byte) ? 'trailerValue' : 'broken';
      case 'trailerLineFeed':
        return byte === LF ? 'trailerStart' : 'broken';
      case 'endLineFeed':
        return byte === LF ? 'done' : 'broken';
      case 'data':
      case 'done':
      case 'broken':
        return 'broken';
    }
  }

  #sizeByte(byte: number): Stage {
    const digit = hexValue(byte);
    if (digit >= 0) {
      if (this.#digits === maxSizeDigits) return 'broken';
      this.#digits += 1;
      this.#size = this.#size * 16 + digit;
      return 'size';
    }
    if (this.#digits === 0) return 'broken';
    if (byte === CR) return 'sizeLineFeed';
    return byte === 0x3b ? 'extension' : 'broken';
  }

  #trailerByte(): boolean {
    this.#trailerBytes += 1;
    return this.#trailerBytes <= maxTrailerBytes;
  }
}

function isTextByte(byte: number): boolean {
  return byte === 0x09 || (byte >= 0x20 && byte !== 0x7f);
}
