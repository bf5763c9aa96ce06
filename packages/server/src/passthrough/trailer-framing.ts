/**
 * A body with a checksum behind it, in S3's aws-chunked framing without signatures (STREAMING-UNSIGNED-PAYLOAD-TRAILER).
 *
 *   10000\r\n <65536 bytes> \r\n … 0\r\n x-amz-checksum-crc32:AAAAAA==\r\n \r\n
 *
 * A client's framing ends at the gateway, which checks it; this is the gateway's own, so that the origin gets the checksum
 * too and can store it. Chunk sizes are fixed, so the length of all of it is known before the first byte.
 */

const chunkBytes = 64 * 1024;
const CRLF = Buffer.from('\r\n');

/** Characters of each checksum in base64. */
const valueLengths: ReadonlyMap<string, number> = new Map([
  ['x-amz-checksum-crc32', 8],
  ['x-amz-checksum-crc32c', 8],
  ['x-amz-checksum-crc64nvme', 12],
  ['x-amz-checksum-sha1', 28],
  ['x-amz-checksum-sha256', 44],
]);

export function isChecksumTrailer(name: string): boolean {
  return valueLengths.has(name);
}

/** Bytes that a body of `length` bytes takes with this trailer. */
export function framedLength(length: number, trailer: string): number {
  const whole = Math.floor(length / chunkBytes);
  const rest = length % chunkBytes;
  const chunk = (size: number): number => size.toString(16).length + 2 + size + 2;
  const chunks = whole * chunk(chunkBytes) + (rest > 0 ? chunk(rest) : 0);
  const line = trailer.length + 1 + (valueLengths.get(trailer) ?? 0) + 2;
  return chunks + '0\r\n'.length + line + CRLF.length;
}

export type Write = (bytes: Uint8Array) => boolean;

export class TrailerFraming {
  /** Bytes of the body that haven't come yet, and of them those of the chunk that is open. */
  #left: number;
  #chunkLeft = 0;

  constructor(length: number) {
    this.#left = length;
  }

  /** Writes bytes of the body with what goes around them; false when the writer wants to be waited for. */
  push(bytes: Uint8Array, write: Write): boolean {
    let room = true;
    for (let at = 0; at < bytes.length;) {
      if (this.#chunkLeft === 0) {
        this.#chunkLeft = Math.min(chunkBytes, this.#left);
        room = write(Buffer.from(`${this.#chunkLeft.toString(16)}\r\n`));
      }
      const part = bytes.subarray(at, at + this.#chunkLeft);
      room = write(part);
      at += part.length;
      this.#left -= part.length;
      this.#chunkLeft -= part.length;
      if (this.#chunkLeft === 0) room = write(CRLF);
    }
    return room;
  }

  end(trailer: string, value: string, write: Write): void {
    write(Buffer.from(`0\r\n${trailer}:${value}\r\n\r\n`));
  }
}

/** Takes the framing off again. Only for what `TrailerFraming` wrote: anything else is a bug and throws. */
export class TrailerUnframing {
  /** The line being received, or '' between them. */
  #line = '';
  #chunkLeft = 0;
  #stage: 'size' | 'bytes' | 'gap' | 'trailer' = 'size';
  /** The trailer's value, once it came. */
  value = '';

  push(bytes: Uint8Array, body: (bytes: Uint8Array) => void): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#stage === 'bytes') {
        const part = bytes.subarray(at, at + this.#chunkLeft);
        at += part.length;
        this.#chunkLeft -= part.length;
        if (this.#chunkLeft === 0) this.#stage = 'gap';
        body(part);
        continue;
      }
      const end = bytes.indexOf(0x0a, at);
      const stop = end < 0 ? bytes.length : end + 1;
      this.#line += Buffer.from(bytes.subarray(at, stop)).toString('latin1');
      at = stop;
      if (end >= 0) this.#endOfLine();
    }
  }

  #endOfLine(): void {
    const line = this.#line.slice(0, -2);
    this.#line = '';
    if (this.#stage === 'gap') {
      this.#stage = 'size';
    } else if (this.#stage === 'trailer') {
      if (line !== '') this.value = line.slice(line.indexOf(':') + 1);
    } else {
      this.#chunkLeft = Number.parseInt(line, 16);
      if (Number.isNaN(this.#chunkLeft)) throw new Error('a chunk of our own framing has no size');
      this.#stage = this.#chunkLeft === 0 ? 'trailer' : 'bytes';
    }
  }
}
