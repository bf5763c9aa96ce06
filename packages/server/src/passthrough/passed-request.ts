/**
 * A client's authorised request that the cache doesn't answer, and the ForwardRequest that is made of it.
 *
 * The target becomes path-style and otherwise keeps every byte. Headers that a presigned URL carries in its query become
 * headers, since the origin is asked by a signature in headers, where S3 reads them. Framing of the client's ends here:
 * signed chunks become a plain body, a trailing checksum goes on in a framing of our own.
 */
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { splitTarget } from '@s3-accelerator/core/s3/object-key.ts';
import { isAuthenticationParameter } from '@s3-accelerator/core/s3/query.ts';
import type { QueryParameter } from '@s3-accelerator/core/s3/query.ts';
import type { GrantSet } from '../auth/grants.ts';
import type { Operation } from '../auth/operation.ts';
import type { PayloadForm } from '../auth/payload-form.ts';
import { headerValue } from '../http/raw-headers.ts';
import { unsignedPayload } from '../origin/origin-signer.ts';
import { withTrailerFraming, withoutAwsChunked, withoutFraming } from './body-headers.ts';
import type { ForwardRequest } from './forward.ts';
import { framedLength, isChecksumTrailer } from './trailer-framing.ts';

export interface MadeSuccess {
  /** `headers` are the origin's. The body is sent with its length. */
  answer(headers: readonly string[]): {
    readonly status: number;
    readonly headers: readonly string[];
    readonly body: Uint8Array;
  };
}

/** Copied out of the head: it must outlive the call that brought it. */
export interface PassedRequest {
  readonly method: string;
  readonly operation: Operation;
  readonly bucket: string;
  readonly key: string;
  /** Raw path and query as signed. */
  readonly target: string;
  /** Whether the bucket came from the Host header, and the target's path is all key. */
  readonly isVirtualHost: boolean;
  /** The query's parameters. */
  readonly parameters: readonly QueryParameter[];
  /** Raw name, value, … */
  readonly headers: readonly string[];
  readonly grants: GrantSet;
  /** The answer says that it bypassed the cache. */
  readonly isReported: boolean;
  readonly presigned: boolean;
  readonly payload: PayloadForm;
  /** Makes the answer to a write that the origin made, in place of the origin's; null for the origin's own. */
  readonly success: MadeSuccess | null;
  /** Bytes of the body on the wire; null when it is chunked, 0 when there is none. */
  readonly contentLength: number | null;
}

/** What goes on, and how its body is written. */
export interface PreparedForward {
  readonly request: ForwardRequest;
  /** Bytes of the body itself, without any framing. */
  readonly length: number;
  /** Name of the trailing checksum that it is framed with, '' for none. */
  readonly trailer: string;
}

export function prepareForward(passed: PassedRequest): PreparedForward | ErrorCode {
  const headers = passed.presigned
    ? withHoistedHeaders(passed.headers, passed.parameters)
    : [...passed.headers];
  const { method, bucket, key, payload } = passed;
  const target = pathStyleTarget(passed);
  const plain = (length: number, of: readonly string[]): PreparedForward => {
    // A body of no bytes is said to be there where one is expected: Content-Length: 0.
    const bodyLength = length === 0 && !expectsBody(method) ? null : length;
    const request = { method, bucket, key, target, headers: of, bodyLength };
    return { request, length, trailer: '' };
  };
  if (payload === 'hash' || payload === 'unsigned') {
    return passed.contentLength === null
      ? 'MissingContentLength'
      : plain(passed.contentLength, withoutAwsChunked(headers));
  }
  const length = decodedLength(headers);
  if (length === null) return 'MissingContentLength';
  const trailer = payload === 'signedChunks' ? '' : headerValue(headers, 'x-amz-trailer').trim();
  if (trailer === '') {
    const kept = withoutFraming(headers);
    return plain(length, [...kept, 'x-amz-content-sha256', unsignedPayload]);
  }
  const name = trailer.toLowerCase();
  if (!isChecksumTrailer(name)) return 'InvalidRequest';
  const framed = withTrailerFraming(headers, length, name);
  const bodyLength = framedLength(length, name);
  const request = { method, bucket, key, target, headers: framed, bodyLength };
  return { request, length, trailer: name };
}

function expectsBody(method: string): boolean {
  return method === 'PUT' || method === 'POST';
}

function decodedLength(headers: readonly string[]): number | null {
  const text = headerValue(headers, 'x-amz-decoded-content-length');
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/**
 * The target with the bucket in its path. Where an origin could read a query in another way than it was read when the grant was
 * checked, and so list other keys, it gets the one spelling that all read alike: in the prefix of a listing `+` becomes `%20`, and
 * anywhere `;`, which is a separator to some, becomes `%3B`.
 */
function pathStyleTarget(passed: PassedRequest): string {
  const { path, query } = splitTarget(passed.target);
  const whole = passed.isVirtualHost ? `/${passed.bucket}${path}` : path;
  if (query === null) return whole;
  const plain = query.replaceAll(';', '%3B');
  if (!passed.parameters.some(isPlusPrefix)) return `${whole}?${plain}`;
  const raw = passed.parameters.map((one) =>
    isPlusPrefix(one) ? one.raw.replaceAll('+', '%20') : one.raw,
  );
  return `${whole}?${raw.join('&').replaceAll(';', '%3B')}`;
}

function isPlusPrefix({ name, raw }: QueryParameter): boolean {
  return name === 'prefix' && raw.includes('+');
}

/** Adds the headers that a presigned URL has in its query; one that is also sent as a header stays as sent. */
function withHoistedHeaders(
  headers: readonly string[],
  parameters: readonly QueryParameter[],
): string[] {
  const all = [...headers];
  for (const { name, value } of parameters) {
    const lower = name.toLowerCase();
    if (!lower.startsWith('x-amz-') || isAuthenticationParameter(lower)) continue;
    if (/[\0-\x1f\x7f]/.test(value) || !/^[a-z0-9-]+$/.test(lower)) continue;
    if (headerValue(headers, lower) === '') all.push(lower, value);
  }
  return all;
}
