// Decodes the `aws-chunked` framing of a streamed upload and checks its chunk signatures.
//
//   size[;chunk-signature=hex] CRLF bytes CRLF … 0[;chunk-signature=hex] CRLF [trailer: value CRLF]… CRLF
//
// States: size → data → data-end → size …, and after the chunk of size 0: trailer → done.
import { S3Error } from '../s3-error.ts';

const maxLineBytes = 4096;
const minSignedChunkBytes = 8192;

/** Checks signatures along the stream; null where the framing isn't signed. */
export interface ChunkVerifier {
  /** @throws S3Error SignatureDoesNotMatch */
  startChunk(signature: string): void;
  chunkBytes(bytes: Buffer): void;
  endChunk(): void;
  /** @throws S3Error SignatureDoesNotMatch */
  trailer(canonical: string, signature: string): void;
}

export class AwsChunkedDecoder {
  #state: 'size' | 'data' | 'data-end' | 'trailer' | 'done' = 'size';
  #line = '';
  #left = 0;
  #sawShortChunk = false;
  #trailerText = '';
  #trailerSignature: string | null = null;
  readonly #trailers = new Map<string, string>();
  readonly #verifier: ChunkVerifier | null;
  readonly #signedTrailer: boolean;

  constructor(verifier: ChunkVerifier | null, signedTrailer: boolean) {
    this.#verifier = verifier;
    this.#signedTrailer = signedTrailer;
  }

  /** Hands the payload in `bytes` to `sink`. @throws S3Error for broken framing or signatures. */
  push(bytes: Buffer, sink: (payload: Buffer) => void): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#state === 'data') {
        const payload = bytes.subarray(at, at + this.#left);
        at += payload.length;
        this.#left -= payload.length;
        this.#verifier?.chunkBytes(payload);
        sink(payload);
        if (this.#left === 0) {
          this.#verifier?.endChunk();
          this.#state = 'data-end';
        }
        continue;
      }
      if (this.#state === 'done') throw new S3Error('IncompleteBody');
      const lineEnd = bytes.indexOf(0x0a, at);
      const end = lineEnd < 0 ? bytes.length : lineEnd + 1;
      this.#line += bytes.toString('latin1', at, end);
      at = end;
      if (this.#line.length > maxLineBytes) throw new S3Error('InvalidRequest');
      if (lineEnd >= 0) this.#endLine();
    }
  }

  /** The trailers by lower-case name. @throws S3Error IncompleteBody if the framing hasn't ended. */
  finish(): ReadonlyMap<string, string> {
    if (this.#state !== 'done') throw new S3Error('IncompleteBody');
    return this.#trailers;
  }

  #endLine(): void {
    if (!this.#line.endsWith('\r\n')) throw new S3Error('IncompleteBody');
    const line = this.#line.slice(0, -2);
    this.#line = '';
    if (this.#state === 'data-end') {
      if (line !== '') throw new S3Error('IncompleteBody');
      this.#state = 'size';
    } else if (this.#state === 'size') this.#startChunk(line);
    else this.#trailerLine(line);
  }

  #startChunk(line: string): void {
    const parsed = /^([0-9a-fA-F]{1,15})(?:;chunk-signature=([0-9a-f]{64}))?$/.exec(line);
    if (parsed === null) throw new S3Error('IncompleteBody');
    const size = Number.parseInt(parsed[1]!, 16);
    if (this.#verifier !== null) {
      if (size > 0 && this.#sawShortChunk) throw new S3Error('InvalidChunkSizeError');
      this.#sawShortChunk = size < minSignedChunkBytes;
      if (parsed[2] === undefined) throw new S3Error('SignatureDoesNotMatch');
      this.#verifier.startChunk(parsed[2]);
      if (size === 0) this.#verifier.endChunk();
    }
    this.#left = size;
    this.#state = size === 0 ? 'trailer' : 'data';
  }

  #trailerLine(line: string): void {
    if (line !== '') {
      const colon = line.indexOf(':');
      if (colon <= 0) throw new S3Error('MalformedTrailerError');
      const name = line.slice(0, colon).trim().toLowerCase();
      const value = line.slice(colon + 1).trim();
      if (name === 'x-amz-trailer-signature') this.#trailerSignature = value;
      else {
        this.#trailers.set(name, value);
        this.#trailerText += `${name}:${value}\n`;
      }
      return;
    }
    if (this.#signedTrailer) {
      if (this.#trailerSignature === null) throw new S3Error('SignatureDoesNotMatch');
      this.#verifier?.trailer(this.#trailerText, this.#trailerSignature);
    }
    this.#state = 'done';
  }
}
