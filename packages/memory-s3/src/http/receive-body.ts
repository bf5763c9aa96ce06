// Receives an upload: undoes its framing, hashes it while it streams into a sink, and checks every digest
// that the client gave. Nothing is stored before all of them hold.
import type { IncomingMessage } from 'node:http';
import type { Authentication } from '../auth/sigv4.ts';
import { SignedChunks } from '../auth/sigv4.ts';
import { S3Error } from '../s3-error.ts';
import {
  checksumAlgorithm,
  checksumAlgorithms,
  checksumHeader,
  isChecksumValue,
  startChecksum,
} from '../store/checksum.ts';
import type { Checksum, ChecksumAlgorithm } from '../store/checksum.ts';
import { HashDigest } from '../store/digest.ts';
import { MemorySink } from '../store/content.ts';
import type { Content, ContentSink } from '../store/content.ts';
import { AwsChunkedDecoder } from './aws-chunked.ts';
import type { S3Request } from './request.ts';

const maxUploadBytes = 5 * 1024 ** 3;
const maxDocumentBytes = 2 * 1024 ** 2;

export interface Upload {
  readonly content: Content;
  /** Hex. */
  readonly md5: string;
  /** The checksum that the client sent and that held, else the one wanted of us, else null. */
  readonly checksum: Checksum | null;
  /** Whether the client sent it. */
  readonly checksumSent: boolean;
}

interface Framing {
  readonly chunked: boolean;
  readonly signed: boolean;
  readonly trailer: boolean;
}

/** Receives an object's or a part's bytes. @throws S3Error when the body isn't what was announced. */
export async function receiveUpload(
  message: IncomingMessage,
  request: S3Request,
  authentication: Authentication,
  makeSink: (expectedBytes: number) => ContentSink,
  wanted: ChecksumAlgorithm | null = null,
): Promise<Upload> {
  const framing = readFraming(authentication.payloadHash);
  const expectedBytes = announcedBytes(request, framing);
  if (expectedBytes > maxUploadBytes) throw new S3Error('EntityTooLarge');
  const claim = readChecksumClaim(request.headers, framing);
  const sink = makeSink(expectedBytes);
  const md5 = new HashDigest('md5');
  const sha256 = framing.chunked || !isHash(authentication) ? null : new HashDigest('sha256');
  const algorithm = claim?.algorithm ?? wanted;
  const checksum = algorithm === null ? null : startChecksum(algorithm);
  let received = 0;
  const take = (payload: Buffer): void => {
    received += payload.length;
    if (received > expectedBytes) throw new S3Error('IncompleteBody');
    md5.update(payload);
    sha256?.update(payload);
    checksum?.update(payload);
    sink.append(payload);
  };
  const decoder = framing.chunked
    ? new AwsChunkedDecoder(
        framing.signed ? new SignedChunks(authentication) : null,
        framing.signed && framing.trailer,
      )
    : null;
  // A refused body must leave the connection open for the answer.
  const pieces: AsyncIterable<Buffer> = message.iterator({ destroyOnReturn: false });
  for await (const piece of pieces) {
    if (decoder === null) take(piece);
    else decoder.push(piece, take);
  }
  const trailers = decoder?.finish() ?? new Map<string, string>();
  if (received !== expectedBytes) throw new S3Error('IncompleteBody');

  const digest = md5.digest();
  checkContentMd5(request, digest);
  if (sha256 !== null && sha256.digest().toString('hex') !== authentication.payloadHash) {
    throw new S3Error('XAmzContentSHA256Mismatch');
  }
  const value = checksum?.digest().toString('base64') ?? '';
  if (claim !== null) checkChecksum(claim, value, trailers);
  return {
    content: sink.finish(),
    md5: digest.toString('hex'),
    checksum: algorithm === null ? null : { algorithm, type: 'FULL_OBJECT', value },
    checksumSent: claim !== null,
  };
}

/** Receives a small document whole. @throws S3Error as receiveUpload, and MalformedXML if too big. */
export async function receiveDocument(
  message: IncomingMessage,
  request: S3Request,
  authentication: Authentication,
): Promise<Buffer> {
  if (Number(request.headers.get('content-length') ?? 0) > maxDocumentBytes) {
    throw new S3Error('MalformedXML');
  }
  if (announcesNothing(request)) return Buffer.alloc(0);
  const upload = await receiveUpload(message, request, authentication, (expected) => {
    return new MemorySink(expected);
  });
  return Buffer.concat([...upload.content.slices(0, upload.content.size)]);
}

function announcesNothing(request: S3Request): boolean {
  return !request.headers.has('content-length') && !request.headers.has('transfer-encoding');
}

function isHash(authentication: Authentication): boolean {
  return /^[0-9a-f]{64}$/.test(authentication.payloadHash);
}

function readFraming(payloadHash: string): Framing {
  switch (payloadHash) {
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD':
      return { chunked: true, signed: true, trailer: false };
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER':
      return { chunked: true, signed: true, trailer: true };
    case 'STREAMING-UNSIGNED-PAYLOAD-TRAILER':
      return { chunked: true, signed: false, trailer: true };
    default:
      if (payloadHash !== 'UNSIGNED-PAYLOAD' && !/^[0-9a-f]{64}$/.test(payloadHash)) {
        throw new S3Error(
          'InvalidArgument',
          'x-amz-content-sha256 must be one of its known forms.',
        );
      }
      return { chunked: false, signed: false, trailer: false };
  }
}

function announcedBytes(request: S3Request, framing: Framing): number {
  const name = framing.chunked ? 'x-amz-decoded-content-length' : 'content-length';
  const announced = request.headers.get(name);
  if (announced === undefined || !/^\d{1,15}$/.test(announced)) {
    throw new S3Error('MissingContentLength');
  }
  return Number(announced);
}

interface ChecksumClaim {
  readonly algorithm: ChecksumAlgorithm;
  /** Null where the value follows as a trailer. */
  readonly value: string | null;
}

function readChecksumClaim(
  headers: ReadonlyMap<string, string>,
  framing: Framing,
): ChecksumClaim | null {
  const claims: ChecksumClaim[] = [];
  for (const algorithm of checksumAlgorithms) {
    const value = headers.get(checksumHeader(algorithm));
    if (value !== undefined) claims.push({ algorithm, value });
  }
  const trailer = headers.get('x-amz-trailer')?.trim().toLowerCase();
  if (trailer !== undefined) {
    const named = checksumAlgorithms.find((algorithm) => checksumHeader(algorithm) === trailer);
    if (named === undefined || !framing.trailer) {
      throw new S3Error(
        'InvalidRequest',
        'The value specified in the x-amz-trailer is not supported',
      );
    }
    claims.push({ algorithm: named, value: null });
  }
  if (claims.length > 1) {
    throw new S3Error('InvalidRequest', 'Expecting a single x-amz-checksum- header.');
  }
  const [claim] = claims;
  const asked = headers.get('x-amz-sdk-checksum-algorithm');
  if (asked !== undefined && claim?.algorithm !== checksumAlgorithm(asked)) {
    throw new S3Error(
      'InvalidRequest',
      'x-amz-sdk-checksum-algorithm needs a matching x-amz-checksum- or x-amz-trailer header.',
    );
  }
  if (claim?.value != null && !isChecksumValue(claim.algorithm, claim.value)) {
    throw new S3Error(
      'InvalidRequest',
      `Value for ${checksumHeader(claim.algorithm)} header is invalid.`,
    );
  }
  return claim ?? null;
}

function checkChecksum(
  claim: ChecksumClaim,
  computed: string,
  trailers: ReadonlyMap<string, string>,
): void {
  const given = claim.value ?? trailers.get(checksumHeader(claim.algorithm));
  if (given === undefined) throw new S3Error('MalformedTrailerError');
  if (given !== computed) {
    throw new S3Error('BadDigest', `The ${claim.algorithm} you specified did not match.`);
  }
}

function checkContentMd5(request: S3Request, digest: Buffer): void {
  const given = request.headers.get('content-md5');
  if (given === undefined) return;
  const bytes = Buffer.from(given, 'base64');
  if (bytes.length !== 16 || bytes.toString('base64') !== given) throw new S3Error('InvalidDigest');
  if (!bytes.equals(digest)) throw new S3Error('BadDigest');
}
