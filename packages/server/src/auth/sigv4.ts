/**
 * The signature check: every request passes it before anything else looks at it.
 *
 * Covers SigV4 in the Authorization header and in presigned URLs, against the raw bytes of the head. On the hot path
 * (header, known scope, plain query) the canonical request is built by copying bytes, and one call into the addon hashes
 * and compares in constant time; nothing is allocated but the text that the scope is looked up by.
 *
 * Every header named `x-amz-…` must be covered by the signature, but for the few that can't change the operation: the
 * gateway signs requests anew for the origin, so whatever it let through unsigned it would vouch for.
 *
 * The outcome lies in the fields and is valid until the next check. Details never hold anything secret.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ErrorDetail } from '@s3-accelerator/core/s3/error-xml.ts';
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { formatAmzDate, parseAmzDate } from '@s3-accelerator/core/s3/http-date.ts';
import { parseQuery, queryValue, type QueryParameter } from '@s3-accelerator/core/s3/query.ts';
import { HeaderSlot, sameName } from '../http/header-slots.ts';
import { headerStride, type RequestHead } from '../http/request-head.ts';
import { newAuthorizationFields, readAuthorization } from './authorization-header.ts';
import { CanonicalRequest, isPlainQuery, maxCanonicalBytes } from './canonical-request.ts';
import type { Client, ClientSource } from './clients.ts';
import type { GrantSet } from './grants.ts';
import { payloadFormOf, type PayloadForm } from './payload-form.ts';
import {
  SigningKeys,
  type ClaimedScope,
  type SignatureDigester,
  type SigningScope,
} from './signing-keys.ts';

const maxSkewSeconds = 15 * 60;
const maxPresignedSeconds = 7 * 24 * 60 * 60;

/** Scratch layout: the claimed signature, the beginning of the string to sign, the canonical request. */
const signatureAt = 0;
const signatureLength = 64;
const prefixAt = signatureAt + signatureLength;
/** Algorithm, date and scope take at most 160 bytes, and the addon may put 64 of hexadecimal hash behind them. */
const canonicalAt = 512;

/** What the scratch memory of the digester must hold. */
export const requiredScratchBytes = canonicalAt + maxCanonicalBytes;

const amzDateLength = 16;
const LF = 0x0a;

const ascii = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));
const algorithmLine = ascii('AWS4-HMAC-SHA256\n');
const unsignedPayload = ascii('UNSIGNED-PAYLOAD');
const amzPrefix = ascii('x-amz-');
const contentSha256 = ascii('x-amz-content-sha256');

/**
 * Headers that may go unsigned. The date is part of the string to sign, the token is compared with the client's own,
 * the last is for statistics. The payload hash is part of the canonical request of a header signature; in a presigned
 * URL it isn't, and so must be signed there.
 */
const mayBeUnsigned = ['x-amz-date', 'x-amz-security-token', 'x-amz-user-agent'].map(ascii);

/** Old clients, and SDKs that presign for an endpoint they don't know, sign in the way before this one. */
const onlySigV4: ErrorDetail = [
  'Reason',
  'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.',
];

const noDetails: readonly ErrorDetail[] = [];
const noBytes = new Uint8Array(0);

/** A range of bytes that a signature was claimed with. */
interface Range {
  bytes: Uint8Array;
  start: number;
  end: number;
}

const newRange = (): Range => ({ bytes: noBytes, start: 0, end: 0 });

function setRange(range: Range, bytes: Uint8Array, start: number, end: number): void {
  range.bytes = bytes;
  range.start = start;
  range.end = end;
}

/** What the form of a browser's upload says about its signature; all binary strings. */
export interface PolicyClaim {
  /** The field as it came: base64. */
  readonly policy: string;
  readonly credential: string;
  readonly amzDate: string;
  readonly signature: string;
  readonly token: string | null;
}

export interface SigV4Options {
  /** The region that clients sign for; `auto` takes any. */
  readonly region: string;
  /** Signing keys kept at most; also the number of key slots used in the digester. */
  readonly maxScopes: number;
}

export class SigV4 {
  /** Who sent the request, once it was accepted. */
  client: Client | null = null;
  /** Further elements for the error document, when it was refused. */
  details: readonly ErrorDetail[] = noDetails;
  presigned = false;
  payload: PayloadForm = 'unsigned';
  /** The query's parameters where the check had to decode them, else null. */
  parameters: readonly QueryParameter[] | null = null;
  /** When it was refused as `InvalidAccessKeyId`: whose signature it claims to have. */
  unknown: ClaimedScope | null = null;

  readonly #digester: SignatureDigester;
  readonly #keys: SigningKeys;
  readonly #canonical: CanonicalRequest;
  readonly #fields = newAuthorizationFields();
  #scope: SigningScope | null = null;
  /** What the request claims: date, names of the signed headers, payload hash, signature. */
  readonly #date = newRange();
  readonly #signedHeaders = newRange();
  readonly #payloadHash = newRange();
  readonly #signature = newRange();

  constructor(digester: SignatureDigester, clients: ClientSource, options: SigV4Options) {
    if (digester.scratch.length < requiredScratchBytes) {
      throw new RangeError(`the digester needs ${requiredScratchBytes} bytes of scratch memory`);
    }
    this.#digester = digester;
    this.#keys = new SigningKeys(digester, clients, options.region, options.maxScopes);
    this.#canonical = new CanonicalRequest(digester.scratch);
  }

  /** Takes a new set of clients; credentials that aren't in it are refused from the next request on. */
  replaceClients(clients: ClientSource): void {
    this.#keys.replaceClients(clients);
  }

  /** What is known of a client has changed: the next request asks the source again. */
  forget(claimed: ClaimedScope): void {
    this.#keys.forget(claimed);
  }

  /** Checks a request that arrived at `nowMs` (since 1970). Null when `client` sent it, else why it is refused. */
  check(head: RequestHead, nowMs: number): ErrorCode | null {
    this.client = null;
    this.details = noDetails;
    this.parameters = null;
    this.presigned = false;
    this.#scope = null;
    if (head.pathEnd < head.targetEnd && !isPlainQuery(head)) {
      this.parameters = parseQuery(head.query());
      if (this.parameters === null) return 'InvalidURI';
    }
    const parameters = this.parameters;
    const inQuery = parameters !== null && hasAny(parameters, 'X-Amz-Algorithm', 'X-Amz-Signature');
    if (head.has(HeaderSlot.authorization)) {
      return inQuery ? 'InvalidArgument' : this.#checkHeader(head, nowMs);
    }
    if (inQuery) return this.#checkPresigned(head, parameters, nowMs);
    return parameters !== null && hasAny(parameters, 'AWSAccessKeyId')
      ? this.#refuse('InvalidRequest', onlySigV4)
      : 'AccessDenied';
  }

  /**
   * Checks the signature over the policy of a browser's upload, which stands in the form itself. Grants of its signer, or why it is
   * refused. Nothing of an accepted request is kept.
   */
  checkPolicy(claim: PolicyClaim, nowMs: number): GrantSet | ErrorCode {
    this.client = null;
    this.unknown = null;
    this.details = noDetails;
    this.#scope = null;
    const unknown = this.#findScope(claim.credential, 'InvalidArgument');
    if (unknown !== null) return unknown;
    this.#setText(this.#date, claim.amzDate);
    if (parseAmzDate(this.#date.bytes, 0, this.#date.end) < 0) return 'InvalidArgument';
    if (!this.#isScopeOfDay()) return 'InvalidArgument';
    const expected = createHmac('sha256', this.scope.key)
      .update(claim.policy, 'latin1')
      .digest('hex');
    const given = Buffer.from(claim.signature, 'latin1');
    if (given.length !== signatureLength || !timingSafeEqual(given, Buffer.from(expected))) {
      return 'SignatureDoesNotMatch';
    }
    return this.#accept(claim.token, nowMs) ?? this.scope.client.grants;
  }

  /** Of the accepted request: the scope it was signed in. */
  get scope(): SigningScope {
    if (this.#scope === null) throw new Error('the last request was not accepted');
    return this.#scope;
  }

  /** Of the accepted request: the date it was signed at, `20261129T120000Z`. */
  amzDate(): string {
    return textOf(this.#date);
  }

  /** Of the accepted request: its signature, which the chunks of a streaming upload are chained to. */
  signature(): string {
    return textOf(this.#signature);
  }

  /** Of the accepted request: what it gave as the hash of its payload. */
  payloadHash(): string {
    return textOf(this.#payloadHash);
  }

  #refuse(code: ErrorCode, ...details: readonly ErrorDetail[]): ErrorCode {
    this.details = details;
    return code;
  }

  /** Finds the scope of a credential; false with `details` set when there is none, and `#scopeError` says why. */
  #findScope(credential: string, malformed: ErrorCode): ErrorCode | null {
    const found = this.#keys.find(credential);
    if (found.ok) {
      this.#scope = found.scope;
      return null;
    }
    switch (found.reason) {
      case 'malformed':
        return malformed;
      case 'region':
        // SDKs read the region from here and sign again.
        return this.#refuse(malformed, ['Region', this.#keys.region]);
      case 'unknownKey':
        this.unknown = found.claimed;
        return 'InvalidAccessKeyId';
    }
  }

  #checkHeader(head: RequestHead, nowMs: number): ErrorCode | null {
    const bytes = head.bytes;
    const fields = this.#fields;
    const { authorization } = HeaderSlot;
    const read = readAuthorization(
      bytes,
      head.valueStart(authorization),
      head.valueEnd(authorization),
      fields,
    );
    if (read === 'unsupported') return this.#refuse('InvalidRequest', onlySigV4);
    if (read === 'foreign') return 'InvalidArgument';
    if (read === 'malformed') return 'AuthorizationHeaderMalformed';
    const credential = head.text.toString('latin1', fields.credentialStart, fields.credentialEnd);
    const unknown = this.#findScope(credential, 'AuthorizationHeaderMalformed');
    if (unknown !== null) return unknown;

    const hashSlot = HeaderSlot['x-amz-content-sha256'];
    if (!head.has(hashSlot)) {
      return this.#refuse('MissingSecurityHeader', ['MissingHeaderName', 'x-amz-content-sha256']);
    }
    setRange(this.#payloadHash, bytes, head.valueStart(hashSlot), head.valueEnd(hashSlot));
    setRange(this.#signedHeaders, bytes, fields.signedHeadersStart, fields.signedHeadersEnd);
    setRange(this.#signature, bytes, fields.signatureStart, fields.signatureEnd);

    const dateSlot = HeaderSlot['x-amz-date'];
    if (!head.has(dateSlot)) return 'AccessDenied';
    setRange(this.#date, bytes, head.valueStart(dateSlot), head.valueEnd(dateSlot));
    const signedAt = parseAmzDate(bytes, this.#date.start, this.#date.end);
    if (signedAt < 0) return 'AccessDenied';
    if (!this.#isScopeOfDay()) return 'AuthorizationHeaderMalformed';
    if (Math.abs(nowMs / 1000 - signedAt) > maxSkewSeconds) {
      return this.#refuse(
        'RequestTimeTooSkewed',
        ['RequestTime', formatAmzDate(signedAt)],
        ['ServerTime', new Date(nowMs).toISOString()],
        ['MaxAllowedSkewMilliseconds', `${maxSkewSeconds * 1000}`],
      );
    }
    return (
      this.#verify(head) ?? this.#accept(head.header(HeaderSlot['x-amz-security-token']), nowMs)
    );
  }

  #checkPresigned(
    head: RequestHead,
    parameters: readonly QueryParameter[],
    nowMs: number,
  ): ErrorCode | null {
    const wrong = 'AuthorizationQueryParametersError';
    this.presigned = true;
    if (repeatsOwnParameter(parameters)) return wrong;
    const credential = queryValue(parameters, 'X-Amz-Credential');
    const date = queryValue(parameters, 'X-Amz-Date');
    const expires = queryValue(parameters, 'X-Amz-Expires');
    const signedHeaders = queryValue(parameters, 'X-Amz-SignedHeaders');
    const signature = queryValue(parameters, 'X-Amz-Signature');
    if (
      queryValue(parameters, 'X-Amz-Algorithm') !== 'AWS4-HMAC-SHA256' ||
      credential === null ||
      date === null ||
      expires === null ||
      signedHeaders === null ||
      signature === null ||
      !/^\d{1,7}$/.test(expires)
    ) {
      return wrong;
    }
    const unknown = this.#findScope(credential, wrong);
    if (unknown !== null) return unknown;
    this.#setText(this.#date, date);
    this.#setText(this.#signedHeaders, signedHeaders);
    this.#setText(this.#signature, signature);

    const signedAt = parseAmzDate(this.#date.bytes, 0, this.#date.end);
    const lifetime = Number(expires);
    if (signedAt < 0 || lifetime < 1 || lifetime > maxPresignedSeconds) return wrong;
    if (!this.#isScopeOfDay()) return wrong;
    const now = nowMs / 1000;
    if (now > signedAt + lifetime || now < signedAt - maxSkewSeconds) {
      return this.#refuse(
        'AccessDenied',
        ['X-Amz-Expires', expires],
        ['Expires', new Date((signedAt + lifetime) * 1000).toISOString()],
        ['ServerTime', new Date(nowMs).toISOString()],
      );
    }
    this.#setPresignedHash(head, parameters, signedHeaders);
    const token =
      queryValue(parameters, 'X-Amz-Security-Token') ??
      head.header(HeaderSlot['x-amz-security-token']);
    return this.#verify(head) ?? this.#accept(token, nowMs);
  }

  #setText(range: Range, text: string): void {
    setRange(range, ascii(text), 0, text.length);
  }

  /** A presigned URL signs a payload hash only when its query or a signed header has one. */
  #setPresignedHash(
    head: RequestHead,
    parameters: readonly QueryParameter[],
    signedHeaders: string,
  ): void {
    const slot = HeaderSlot['x-amz-content-sha256'];
    const fromQuery = queryValue(parameters, 'X-Amz-Content-Sha256');
    if (fromQuery !== null) {
      this.#setText(this.#payloadHash, fromQuery);
    } else if (head.has(slot) && signedHeaders.split(';').includes('x-amz-content-sha256')) {
      setRange(this.#payloadHash, head.bytes, head.valueStart(slot), head.valueEnd(slot));
    } else {
      setRange(this.#payloadHash, unsignedPayload, 0, unsignedPayload.length);
    }
  }

  /** Whether the scope is of the day that the request was signed on. */
  #isScopeOfDay(): boolean {
    const { day } = this.scope;
    for (let at = 0; at < day.length; at += 1) {
      if (this.#date.bytes[this.#date.start + at] !== day[at]) return false;
    }
    return true;
  }

  /** Checks what was claimed against the head itself. */
  #verify(head: RequestHead): ErrorCode | null {
    const payload = payloadFormOf(
      this.#payloadHash.bytes,
      this.#payloadHash.start,
      this.#payloadHash.end,
    );
    if (payload === null) return 'InvalidArgument';
    this.payload = payload;
    const signature = this.#signature;
    if (signature.end - signature.start !== signatureLength) return 'SignatureDoesNotMatch';
    const writer = this.#canonical;
    writer.position = signatureAt;
    writer.bytes(signature.bytes, signature.start, signature.end);
    writer.bytes(algorithmLine, 0, algorithmLine.length);
    writer.bytes(this.#date.bytes, this.#date.start, this.#date.start + amzDateLength);
    const { suffix } = this.scope;
    writer.bytes(suffix, 0, suffix.length);
    const prefixEnd = writer.position;

    const error = this.#canonicalise(head, false);
    if (error !== null) return error;
    if (!this.#matches(prefixEnd)) {
      if (head.pathIsCanonical) return 'SignatureDoesNotMatch';
      this.#canonicalise(head, true);
      if (!this.#matches(prefixEnd)) return 'SignatureDoesNotMatch';
    }
    return writer.hostIsSigned && !this.#vouchesForUnsigned(head) ? null : 'AccessDenied';
  }

  #matches(prefixEnd: number): boolean {
    return this.#digester.verifySigV4(
      this.scope.slot,
      canonicalAt,
      this.#canonical.position,
      prefixAt,
      prefixEnd,
      signatureAt,
    );
  }

  #canonicalise(head: RequestHead, pathAsSent: boolean): ErrorCode | null {
    const writer = this.#canonical;
    const list = this.#signedHeaders;
    const hash = this.#payloadHash;
    writer.position = canonicalAt;
    writer.bytes(head.bytes, head.methodStart, head.methodEnd);
    writer.byte(LF);
    if (pathAsSent) writer.pathAsSent(head);
    else if (!writer.path(head)) return 'InvalidURI';
    writer.byte(LF);
    if (this.parameters !== null) writer.query(this.parameters);
    else writer.bytes(head.bytes, head.pathEnd + 1, head.targetEnd);
    writer.byte(LF);
    if (!writer.signedHeaders(head, list.bytes, list.start, list.end)) {
      return 'SignatureDoesNotMatch';
    }
    writer.byte(LF);
    writer.bytes(list.bytes, list.start, list.end);
    writer.byte(LF);
    writer.bytes(hash.bytes, hash.start, hash.end);
    return null;
  }

  /** Whether a header that matters was left out of the signature. */
  #vouchesForUnsigned(head: RequestHead): boolean {
    const { bytes, headers } = head;
    for (let index = 0; index < head.headerCount; index += 1) {
      if (this.#canonical.isSigned[index] === 1) continue;
      const start = headers[index * headerStride]!;
      const end = headers[index * headerStride + 1]!;
      if (
        end - start > amzPrefix.length &&
        sameName(bytes, start, start + amzPrefix.length, amzPrefix) &&
        !this.#mayBeUnsigned(bytes, start, end)
      ) {
        return true;
      }
    }
    return false;
  }

  #mayBeUnsigned(bytes: Uint8Array, start: number, end: number): boolean {
    for (const name of mayBeUnsigned) if (sameName(bytes, start, end, name)) return true;
    return !this.presigned && sameName(bytes, start, end, contentSha256);
  }

  /** The signature is right: what is left is whether the credential is still good. */
  #accept(token: string | null, nowMs: number): ErrorCode | null {
    const { client } = this.scope;
    if (!client.acceptsToken(token)) return 'InvalidToken';
    if (client.expiresAtMs <= nowMs) return 'ExpiredToken';
    this.client = client;
    return null;
  }
}

function textOf(range: Range): string {
  const { bytes, start, end } = range;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1', start, end);
}

function hasAny(parameters: readonly QueryParameter[], ...names: readonly string[]): boolean {
  return parameters.some((parameter) => names.includes(parameter.name));
}

/** Whether a parameter of the signature comes twice: which one counts must not be a matter of taste. */
function repeatsOwnParameter(parameters: readonly QueryParameter[]): boolean {
  const seen = new Set<string>();
  for (const { name } of parameters) {
    const own = name.toLowerCase();
    if (!own.startsWith('x-amz-')) continue;
    if (seen.has(own)) return true;
    seen.add(own);
  }
  return false;
}
