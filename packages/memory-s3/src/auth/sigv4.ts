// Signature Version 4 as S3 checks it: headers, presigned URLs and the signatures of streamed chunks.
//
// Written for this package alone, since it is the judge of what the accelerator signs. The canonical path
// is the raw path decoded and encoded again, byte by byte and without any normalising, which is what S3
// does: every legal encoding of a key verifies, `a/../b` stays `a/../b`.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { percentDecode, percentEncode } from '../byte-string.ts';
import type { ByteString } from '../byte-string.ts';
import type { ChunkVerifier } from '../http/aws-chunked.ts';
import { parameter } from '../http/request.ts';
import type { S3Request } from '../http/request.ts';
import { S3Error } from '../s3-error.ts';

export interface Credential {
  readonly accessKey: string;
  readonly secretKey: string;
  /** Set for temporary credentials, which have to send it. */
  readonly sessionToken?: string;
}

/** Who signed, and what a streamed body's chunk signatures continue from. */
export interface Authentication {
  readonly accessKey: string;
  readonly payloadHash: string;
  readonly signature: string;
  readonly signingKey: Buffer;
  readonly scope: string;
  readonly timestamp: string;
}

export interface Verification {
  readonly region: string;
  readonly nowMs: number;
  credential(accessKey: string): Credential | null;
}

interface Claim {
  readonly presigned: boolean;
  readonly credential: string;
  readonly signedHeaders: string;
  readonly signature: string;
  readonly timestamp: string;
  readonly payloadHash: string;
  readonly token: string | null;
}

const algorithm = 'AWS4-HMAC-SHA256';
const maxSkewMs = 15 * 60 * 1000;
const maxExpiresSeconds = 7 * 24 * 3600;
const emptyHash = createHash('sha256').digest('hex');

/** @throws S3Error for every way in which a request isn't properly signed. */
export function authenticate(request: S3Request, verification: Verification): Authentication {
  const claim = readClaim(request);
  const [accessKey = '', date = '', region = '', service = '', end = '', ...more] = splitCredential(
    claim.credential,
  );
  const malformed = claim.presigned
    ? 'AuthorizationQueryParametersError'
    : 'AuthorizationHeaderMalformed';
  if (end !== 'aws4_request' || service !== 's3' || more.length > 0) {
    throw new S3Error(malformed);
  }
  if (region !== verification.region) {
    throw new S3Error(
      malformed,
      `The region '${region}' is wrong; expecting '${verification.region}'`,
      { Region: verification.region },
    );
  }
  const signedAtMs = parseTimestamp(claim.timestamp);
  if (signedAtMs === null || !claim.timestamp.startsWith(date)) throw new S3Error(malformed);
  checkTime(request, claim, signedAtMs, verification.nowMs);
  const credential = verification.credential(accessKey);
  if (credential === null) {
    throw new S3Error('InvalidAccessKeyId', undefined, { AWSAccessKeyId: accessKey });
  }
  if ((claim.token ?? undefined) !== credential.sessionToken) throw new S3Error('InvalidToken');
  checkSignedHeaders(request, claim);

  const scope = `${date}/${region}/s3/aws4_request`;
  const signingKey = deriveKey(credential.secretKey, date, region);
  const canonical = canonicalRequest(request, claim);
  const stringToSign = [algorithm, claim.timestamp, scope, sha256(canonical)].join('\n');
  const expected = hmac(signingKey, stringToSign).toString('hex');
  if (!equal(expected, claim.signature)) {
    throw new S3Error('SignatureDoesNotMatch', undefined, {
      AWSAccessKeyId: accessKey,
      StringToSign: stringToSign,
      SignatureProvided: claim.signature,
      CanonicalRequest: canonical,
    });
  }
  return {
    accessKey,
    payloadHash: claim.payloadHash,
    signature: expected,
    signingKey,
    scope,
    timestamp: claim.timestamp,
  };
}

function readClaim(request: S3Request): Claim {
  const authorization = request.headers.get('authorization');
  const presigned = parameter(request, 'X-Amz-Algorithm');
  if (authorization === undefined && presigned === null) throw new S3Error('AccessDenied');
  if (authorization !== undefined && presigned !== null) {
    throw new S3Error('InvalidArgument', 'Only one auth mechanism allowed.');
  }
  return authorization === undefined
    ? readPresignedClaim(request)
    : readHeaderClaim(request, authorization);
}

function readHeaderClaim(request: S3Request, authorization: string): Claim {
  const parsed =
    /^AWS4-HMAC-SHA256\s+Credential=([^,]+),\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  if (parsed === null) throw new S3Error('AuthorizationHeaderMalformed');
  const payloadHash = request.headers.get('x-amz-content-sha256');
  if (payloadHash === undefined) {
    throw new S3Error(
      'InvalidRequest',
      'Missing required header for this request: x-amz-content-sha256',
    );
  }
  const httpDate = Date.parse(request.headers.get('date') ?? '');
  const timestamp =
    request.headers.get('x-amz-date') ??
    (Number.isNaN(httpDate) ? null : formatTimestamp(httpDate));
  if (timestamp === null) {
    throw new S3Error('AccessDenied', 'AWS authentication requires a valid Date or x-amz-date.');
  }
  return {
    presigned: false,
    credential: parsed[1]!,
    signedHeaders: parsed[2]!,
    signature: parsed[3]!,
    timestamp,
    payloadHash,
    token: request.headers.get('x-amz-security-token') ?? null,
  };
}

function readPresignedClaim(request: S3Request): Claim {
  const required = (name: string): string => {
    const value = parameter(request, name);
    if (value === null || value === '') {
      throw new S3Error('AuthorizationQueryParametersError', `${name} is missing.`);
    }
    return value;
  };
  if (required('X-Amz-Algorithm') !== algorithm) {
    throw new S3Error('AuthorizationQueryParametersError');
  }
  return {
    presigned: true,
    credential: required('X-Amz-Credential'),
    signedHeaders: required('X-Amz-SignedHeaders'),
    signature: required('X-Amz-Signature'),
    timestamp: required('X-Amz-Date'),
    payloadHash:
      parameter(request, 'X-Amz-Content-Sha256') ??
      request.headers.get('x-amz-content-sha256') ??
      'UNSIGNED-PAYLOAD',
    token: parameter(request, 'X-Amz-Security-Token'),
  };
}

function checkTime(request: S3Request, claim: Claim, signedAtMs: number, nowMs: number): void {
  if (!claim.presigned) {
    if (Math.abs(nowMs - signedAtMs) > maxSkewMs) {
      throw new S3Error('RequestTimeTooSkewed', undefined, {
        RequestTime: claim.timestamp,
        ServerTime: new Date(nowMs).toISOString(),
        MaxAllowedSkewMilliseconds: String(maxSkewMs),
      });
    }
    return;
  }
  const expires = Number(parameter(request, 'X-Amz-Expires') ?? 'none');
  if (!Number.isInteger(expires) || expires < 0 || expires > maxExpiresSeconds) {
    throw new S3Error('AuthorizationQueryParametersError', 'X-Amz-Expires is not valid.');
  }
  if (signedAtMs - nowMs > maxSkewMs) {
    throw new S3Error('AccessDenied', 'Request is not valid yet');
  }
  if (nowMs > signedAtMs + expires * 1000) {
    throw new S3Error('AccessDenied', 'Request has expired', {
      'X-Amz-Expires': String(expires),
      ServerTime: new Date(nowMs).toISOString(),
    });
  }
}

// An unsigned x-amz header could change what the signer allowed, so S3 refuses it.
function checkSignedHeaders(request: S3Request, claim: Claim): void {
  const signed = new Set(claim.signedHeaders.split(';'));
  const unsigned = [...request.headers.keys()].filter(
    (name) => name.startsWith('x-amz-') && !signed.has(name) && name !== 'x-amz-content-sha256',
  );
  if (!signed.has('host')) unsigned.push('host');
  if (unsigned.length > 0) {
    throw new S3Error(
      'AccessDenied',
      'There were headers present in the request which were not signed',
      { HeadersNotSigned: unsigned.join(', ') },
    );
  }
}

function canonicalRequest(request: S3Request, claim: Claim): ByteString {
  const query = request.query
    .filter(([name]) => !(claim.presigned && name === 'X-Amz-Signature'))
    .map(([name, value]) => `${percentEncode(name, false)}=${percentEncode(value, false)}`)
    // By name first: `a=` must come before `a-b=`, which sorting whole pairs would turn around.
    .sort((a, b) => compareByName(a, b))
    .join('&');
  const headers = claim.signedHeaders
    .split(';')
    .map((name) => `${name}:${foldSpaces(request.headers.get(name) ?? '')}\n`)
    .join('');
  return [
    request.method,
    percentEncode(percentDecode(request.rawPath), true),
    query,
    headers,
    claim.signedHeaders,
    claim.payloadHash,
  ].join('\n');
}

function compareByName(a: string, b: string): number {
  const [nameA = '', valueA = ''] = a.split('=');
  const [nameB = '', valueB = ''] = b.split('=');
  if (nameA !== nameB) return nameA < nameB ? -1 : 1;
  if (valueA === valueB) return 0;
  return valueA < valueB ? -1 : 1;
}

function foldSpaces(value: ByteString): ByteString {
  return value.replace(/^[ \t]+|[ \t]+$/g, '').replace(/ {2,}/g, ' ');
}

/** Checks the chunk signatures of a streamed body, each of which continues the one before. */
export class SignedChunks implements ChunkVerifier {
  readonly #authentication: Authentication;
  #previous: string;
  #claimed = '';
  #hash = createHash('sha256');

  constructor(authentication: Authentication) {
    this.#authentication = authentication;
    this.#previous = authentication.signature;
  }

  startChunk(signature: string): void {
    this.#claimed = signature;
    this.#hash = createHash('sha256');
  }

  chunkBytes(bytes: Buffer): void {
    this.#hash.update(bytes);
  }

  endChunk(): void {
    this.#check('AWS4-HMAC-SHA256-PAYLOAD', `${emptyHash}\n${this.#hash.digest('hex')}`);
  }

  trailer(canonical: string, signature: string): void {
    this.#claimed = signature;
    this.#check('AWS4-HMAC-SHA256-TRAILER', sha256(canonical));
  }

  #check(kind: string, hashes: string): void {
    const { timestamp, scope, signingKey } = this.#authentication;
    const text = [kind, timestamp, scope, this.#previous, hashes].join('\n');
    const expected = hmac(signingKey, text).toString('hex');
    if (!equal(expected, this.#claimed)) throw new S3Error('SignatureDoesNotMatch');
    this.#previous = expected;
  }
}

// Access keys may hold slashes; the scope's four parts are always the last.
function splitCredential(credential: string): string[] {
  const pieces = credential.split('/');
  const scope = pieces.splice(-4);
  return [pieces.join('/'), ...scope];
}

function parseTimestamp(timestamp: string): number | null {
  const parsed = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(timestamp);
  if (parsed === null) return null;
  const [, year, month, day, hour, minute, second] = parsed;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? null : at;
}

function formatTimestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

const derivedKeys = new Map<string, Buffer>();
const maxDerivedKeys = 1000;

function deriveKey(secret: string, date: string, region: string): Buffer {
  const name = `${secret}\n${date}\n${region}`;
  const known = derivedKeys.get(name);
  if (known !== undefined) return known;
  let key = hmac(Buffer.from(`AWS4${secret}`, 'utf8'), date);
  for (const step of [region, 's3', 'aws4_request']) key = hmac(key, step);
  if (derivedKeys.size >= maxDerivedKeys) derivedKeys.clear();
  derivedKeys.set(name, key);
  return key;
}

function hmac(key: Buffer, text: ByteString): Buffer {
  return createHmac('sha256', key).update(text, 'latin1').digest();
}

function sha256(text: ByteString): string {
  return createHash('sha256').update(text, 'latin1').digest('hex');
}

function equal(expected: string, given: string): boolean {
  const a = Buffer.from(expected, 'latin1');
  const b = Buffer.from(given, 'latin1');
  return a.length === b.length && timingSafeEqual(a, b);
}
