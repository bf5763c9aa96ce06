/**
 * Verifies the body of a request while it streams by: against its hash, or chunk by chunk, or by a trailing checksum.
 *
 * One interface for all forms of `x-amz-content-sha256`. What comes out of `emit` is the decoded body; its last byte is
 * withheld until everything was verified, so that an origin which was promised the whole length can't commit a body that
 * turns out wrong. An empty body has no byte to withhold: its request must wait for `end`.
 */
import { createHash, createHmac, timingSafeEqual, type Hash } from 'node:crypto';
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { HeaderSlot } from '../http/header-slots.ts';
import type { RequestHead } from '../http/request-head.ts';
import { AwsChunkedDecoder, type AwsChunkedSink } from './aws-chunked.ts';
import { checksumNamed, newChecksum, type Checksum } from './checksums.ts';
import type { PayloadForm } from './payload-form.ts';
import type { SigV4 } from './sigv4.ts';
import { WithheldTail, type EmitBody } from './withheld-tail.ts';

export interface Trailer {
  /** In lower case. */
  readonly name: string;
  readonly value: string;
}

export interface BodyVerifier {
  /** Bytes that will be emitted in all; null when the request doesn't say. */
  readonly decodedLength: number | null;
  /** Names of the trailers that will come, in lower case. */
  readonly declaredTrailers: readonly string[];
  /** The trailers, verified, once `end` returned null. */
  readonly trailers: readonly Trailer[];
  /** Takes bytes as received; after an error nothing more may be pushed. What is emitted is valid during the call. */
  push(bytes: Uint8Array, emit: EmitBody): ErrorCode | null;
  /** The body is complete: null after the rest was emitted, else why it is wrong. */
  end(emit: EmitBody): ErrorCode | null;
}

/** What a body is verified against; taken from an accepted request, independent of its bytes. */
export interface BodyExpectation {
  readonly form: PayloadForm;
  /** Hexadecimal SHA-256, for `hash`. */
  readonly hash: string;
  /** Bytes behind the head when it says so, else null. */
  readonly contentLength: number | null;
  /** `x-amz-decoded-content-length`, for aws-chunked. */
  readonly decodedLength: number | null;
  readonly declaredTrailers: readonly string[];
  /** For signed chunks. */
  readonly signing: ChunkSigning | null;
}

export interface ChunkSigning {
  readonly key: Uint8Array;
  readonly amzDate: string;
  /** `20261129/us-east-1/s3/aws4_request`. */
  readonly scope: string;
  /** The signature of the request's head. */
  readonly seed: string;
}

/** What the request that was just accepted by `sigv4` promises about its body. */
export function bodyExpectation(sigv4: SigV4, head: RequestHead): BodyExpectation {
  const form = sigv4.payload;
  const isSigned = form === 'signedChunks' || form === 'signedChunksTrailer';
  const decoded = head.header(HeaderSlot['x-amz-decoded-content-length']) ?? '';
  const trailers = head.header(HeaderSlot['x-amz-trailer']) ?? '';
  return {
    form,
    hash: form === 'hash' ? sigv4.payloadHash() : '',
    contentLength: head.framing === 'chunked' ? null : head.contentLength,
    decodedLength: /^\d{1,15}$/.test(decoded) ? Number(decoded) : null,
    declaredTrailers: trailers
      .toLowerCase()
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    signing: isSigned
      ? {
          key: sigv4.scope.key,
          amzDate: sigv4.amzDate(),
          scope: sigv4.scope.text,
          seed: sigv4.signature(),
        }
      : null,
  };
}

export type VerifierResult =
  | { readonly ok: true; readonly verifier: BodyVerifier }
  | { readonly ok: false; readonly code: ErrorCode };

/** Refuses what can't be verified: an unknown length where the end must be withheld, or trailers that nobody can check. */
export function newBodyVerifier(expected: BodyExpectation): VerifierResult {
  switch (expected.form) {
    case 'unsigned':
      return { ok: true, verifier: new UnsignedBody(expected.contentLength) };
    case 'hash':
      if (expected.contentLength === null) return { ok: false, code: 'MissingContentLength' };
      return { ok: true, verifier: new HashedBody(expected.contentLength, expected.hash) };
    case 'signedChunks':
    case 'signedChunksTrailer':
    case 'unsignedTrailer': {
      if (expected.decodedLength === null) return { ok: false, code: 'MissingContentLength' };
      const takesTrailers = expected.form !== 'signedChunks';
      const declared = expected.declaredTrailers;
      const checkable = declared.every((name) => checksumNamed(name) !== null);
      if (!checkable || (!takesTrailers && declared.length > 0)) {
        return { ok: false, code: 'InvalidRequest' };
      }
      return { ok: true, verifier: new AwsChunkedBody(expected, expected.decodedLength) };
    }
  }
}

class UnsignedBody implements BodyVerifier {
  readonly declaredTrailers: readonly string[] = [];
  readonly trailers: readonly Trailer[] = [];
  readonly decodedLength: number | null;

  constructor(length: number | null) {
    this.decodedLength = length;
  }

  push(bytes: Uint8Array, emit: EmitBody): ErrorCode | null {
    emit(bytes);
    return null;
  }

  end(): ErrorCode | null {
    return null;
  }
}

class HashedBody implements BodyVerifier {
  readonly declaredTrailers: readonly string[] = [];
  readonly trailers: readonly Trailer[] = [];
  readonly decodedLength: number;
  readonly #expected: string;
  readonly #hash = createHash('sha256');
  readonly #tail: WithheldTail;
  #length = 0;

  constructor(length: number, expected: string) {
    this.decodedLength = length;
    this.#tail = new WithheldTail(length);
    this.#expected = expected;
  }

  push(bytes: Uint8Array, emit: EmitBody): ErrorCode | null {
    this.#length += bytes.length;
    if (this.#length > this.decodedLength) return 'IncompleteBody';
    this.#hash.update(bytes);
    this.#tail.push(bytes, emit);
    return null;
  }

  end(emit: EmitBody): ErrorCode | null {
    if (this.#length !== this.decodedLength) return 'IncompleteBody';
    if (this.#hash.digest('hex') !== this.#expected) return 'XAmzContentSHA256Mismatch';
    this.#tail.release(emit);
    return null;
  }
}

const emptyHash = createHash('sha256').digest('hex');

/** The chain of signatures over chunks: each one covers the one before, the first the request's own. */
class SignatureChain {
  readonly #signing: ChunkSigning;
  #previous: string;
  #claimed = '';
  #hash: Hash = createHash('sha256');

  constructor(signing: ChunkSigning) {
    this.#signing = signing;
    this.#previous = signing.seed;
  }

  begin(signature: string): void {
    this.#claimed = signature;
    this.#hash = createHash('sha256');
  }

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  endChunk(): ErrorCode | null {
    const hash = this.#hash.digest('hex');
    return this.#check('AWS4-HMAC-SHA256-PAYLOAD', `${emptyHash}\n${hash}`, this.#claimed);
  }

  trailer(text: string, signature: string): ErrorCode | null {
    const hash = createHash('sha256').update(text, 'latin1').digest('hex');
    return this.#check('AWS4-HMAC-SHA256-TRAILER', hash, signature);
  }

  #check(algorithm: string, hashes: string, claimed: string): ErrorCode | null {
    const { key, amzDate, scope } = this.#signing;
    const text = `${algorithm}\n${amzDate}\n${scope}\n${this.#previous}\n${hashes}`;
    const expected = Buffer.from(createHmac('sha256', key).update(text, 'latin1').digest('hex'));
    const given = Buffer.from(claimed, 'latin1');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      return 'SignatureDoesNotMatch';
    }
    this.#previous = claimed;
    return null;
  }
}

const trailerSignature = 'x-amz-trailer-signature';

class AwsChunkedBody implements BodyVerifier, AwsChunkedSink {
  readonly decodedLength: number;
  readonly declaredTrailers: readonly string[];
  readonly trailers: Trailer[] = [];

  readonly #decoder = new AwsChunkedDecoder(this);
  readonly #chain: SignatureChain | null;
  readonly #signsTrailer: boolean;
  readonly #checksums: ReadonlyMap<string, Checksum>;
  readonly #tail: WithheldTail;
  #emit: EmitBody = () => undefined;
  #length = 0;
  #trailerSignature = '';

  constructor(expected: BodyExpectation, decodedLength: number) {
    this.decodedLength = decodedLength;
    this.#tail = new WithheldTail(decodedLength);
    this.declaredTrailers = expected.declaredTrailers;
    this.#chain = expected.signing === null ? null : new SignatureChain(expected.signing);
    this.#signsTrailer = expected.form === 'signedChunksTrailer';
    this.#checksums = new Map(
      expected.declaredTrailers.map((name) => [name, newChecksum(checksumNamed(name)!)]),
    );
  }

  push(bytes: Uint8Array, emit: EmitBody): ErrorCode | null {
    this.#emit = emit;
    return this.#decoder.push(bytes);
  }

  end(emit: EmitBody): ErrorCode | null {
    if (!this.#decoder.done || this.#length !== this.decodedLength) return 'IncompleteBody';
    if (this.#signsTrailer) {
      const text = this.trailers.map(({ name, value }) => `${name}:${value}\n`).join('');
      const error = this.#chain?.trailer(text, this.#trailerSignature) ?? null;
      if (error !== null) return error;
    }
    if (this.trailers.length !== this.#checksums.size) return 'MalformedTrailerError';
    for (const { name, value } of this.trailers) {
      if (this.#checksums.get(name)?.digest() !== value) return 'BadDigest';
    }
    this.#tail.release(emit);
    return null;
  }

  onChunk(size: number, signature: string): ErrorCode | null {
    if (this.#length + size > this.decodedLength) return 'IncompleteBody';
    this.#chain?.begin(signature);
    return null;
  }

  onBytes(bytes: Uint8Array): void {
    this.#length += bytes.length;
    this.#chain?.update(bytes);
    for (const checksum of this.#checksums.values()) checksum.update(bytes);
    this.#tail.push(bytes, this.#emit);
  }

  onChunkEnd(): ErrorCode | null {
    return this.#chain?.endChunk() ?? null;
  }

  onTrailer(name: string, value: string): ErrorCode | null {
    if (this.#signsTrailer && name === trailerSignature) {
      if (this.#trailerSignature !== '') return 'MalformedTrailerError';
      this.#trailerSignature = value;
      return null;
    }
    const isRepeated = this.trailers.some((trailer) => trailer.name === name);
    if (isRepeated || this.#trailerSignature !== '' || !this.#checksums.has(name)) {
      return 'MalformedTrailerError';
    }
    this.trailers.push({ name, value });
    return null;
  }

  endsHere(): boolean {
    return !this.#signsTrailer || this.#trailerSignature !== '' || this.trailers.length === 0;
  }
}
