/**
 * A naive S3 to test against: objects in a map, every version remembered with the time it was current, so that an answer
 * can be judged. Shares nothing with the machines but the words of their effects.
 */
import { assert } from '../base/assert.ts';
import { mix32 } from '../base/hash.ts';
import type { FetchHead, FetchRequest } from '../node/effects.ts';
import type { OriginError } from '../read.ts';

export interface Version {
  /** '' for a deleted object. */
  readonly etag: string;
  readonly size: number;
  readonly isWeak: boolean;
  readonly since: number;
  /** Infinity while it is current. */
  until: number;
}

/** What goes wrong with one request. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly code: string }
  | { readonly kind: 'unreachable' }
  /** The body breaks off after so many bytes. */
  | { readonly kind: 'short'; readonly bytes: number }
  /** The whole object, whatever range was asked for. */
  | { readonly kind: 'ignoresRange' }
  /** Whatever is current, even if another version was asked for. */
  | { readonly kind: 'ignoresIfMatch' }
  /** A range that nobody asked for. */
  | { readonly kind: 'wrongRange' }
  /** The whole object in a body that doesn't say how long it is. */
  | { readonly kind: 'unknownLength' };

export interface S3Answer {
  readonly head: FetchHead | null;
  /** Body bytes that come, in full or until it breaks off. */
  readonly body: Uint8Array;
  readonly breaksOff: boolean;
}

/** One request as S3 saw it. */
export interface S3Request extends FetchRequest {
  readonly at: number;
}

const noBytes = new Uint8Array(0);

export class S3Model {
  readonly requests: S3Request[] = [];
  readonly #versions = new Map<string, Version[]>();
  #etags = 0;
  /** Asked once a request; null for none. */
  faultOf: (request: FetchRequest) => Fault | null = () => null;

  /** Writes an object of `size` bytes. The content follows from the ETag, which is returned. */
  put(now: number, bucket: string, key: string, size: number, isWeak = false): string {
    this.#etags += 1;
    const etag = `"e${this.#etags}"`;
    this.#append(now, bucket, key, { etag, size, isWeak, since: now, until: Infinity });
    return etag;
  }

  delete(now: number, bucket: string, key: string): void {
    this.#append(now, bucket, key, {
      etag: '',
      size: 0,
      isWeak: false,
      since: now,
      until: Infinity,
    });
  }

  /** Every version of an object, oldest first. */
  history(bucket: string, key: string): readonly Version[] {
    return this.#versions.get(`${bucket}/${key}`) ?? [];
  }

  answer(now: number, request: FetchRequest): S3Answer {
    this.requests.push({ ...request, at: now });
    const fault = this.faultOf(request);
    if (fault?.kind === 'unreachable') return { head: null, body: noBytes, breaksOff: false };
    if (fault?.kind === 'status') return refusal(fault.status, fault.code);
    const version = this.history(request.bucket, request.key).at(-1);
    if (version === undefined || version.etag === '') return refusal(404, 'NoSuchKey');
    return answerVersion(version, request, fault);
  }

  #append(now: number, bucket: string, key: string, version: Version): void {
    const name = `${bucket}/${key}`;
    const versions = this.#versions.get(name) ?? [];
    const last = versions.at(-1);
    if (last !== undefined) {
      assert(last.since <= now, 'writes come in order of time');
      last.until = now;
    }
    versions.push(version);
    this.#versions.set(name, versions);
  }
}

/** Bytes [first, first + length) of the version with this ETag. */
export function contentOf(etag: string, first: number, length: number): Uint8Array {
  let seed = 7;
  for (let i = 0; i < etag.length; i++) seed = mix32(seed ^ etag.charCodeAt(i));
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = mix32(seed + first + i) & 0xff;
  return bytes;
}

function answerVersion(version: Version, request: FetchRequest, fault: Fault | null): S3Answer {
  const { etag, size, isWeak } = version;
  const mustMatch = request.ifMatch !== '' && fault?.kind !== 'ignoresIfMatch';
  if (mustMatch && request.ifMatch !== etag) {
    return refusal(412, 'PreconditionFailed');
  }
  const head: FetchHead = {
    status: 200,
    etag: isWeak ? '' : etag,
    size,
    first: 0,
    length: 0,
    lastModified: 1000,
    headerLines: new Uint8Array([etag.length]),
    error: null,
  };
  if (request.ifNoneMatch !== '' && request.ifNoneMatch === etag) {
    head.status = 304;
    return { head, body: noBytes, breaksOff: false };
  }
  if (request.headOnly) return { head, body: noBytes, breaksOff: false };
  let first = 0;
  let last = size - 1;
  const isSized = fault?.kind !== 'unknownLength';
  const hasRange = request.rangeKind !== 'none' && fault?.kind !== 'ignoresRange' && isSized;
  if (hasRange && request.rangeKind === 'suffix') {
    if (request.first === 0 || size === 0) return refusal(416, 'InvalidRange');
    first = Math.max(0, size - request.first);
  } else if (hasRange) {
    if (request.first >= size) return refusal(416, 'InvalidRange');
    first = request.first;
    last = Math.min(request.last, size - 1);
  }
  if (fault?.kind === 'wrongRange' && first > 0) {
    first -= 1;
    last -= 1;
  }
  head.status = hasRange ? 206 : 200;
  head.first = first;
  head.length = Math.max(0, last - first + 1);
  const body = contentOf(etag, first, head.length);
  if (!isSized) {
    head.size = -1;
    head.length = -1;
  }
  if (fault?.kind !== 'short') return { head, body, breaksOff: false };
  const bytes = Math.min(fault.bytes, Math.max(0, body.length - 1));
  return { head, body: body.subarray(0, bytes), breaksOff: body.length > 0 };
}

function refusal(status: number, code: string): S3Answer {
  const error: OriginError = { status, code, headerLines: noBytes, body: noBytes };
  const head: FetchHead = {
    status,
    etag: '',
    size: -1,
    first: 0,
    length: 0,
    lastModified: 0,
    headerLines: noBytes,
    error,
  };
  return { head, body: noBytes, breaksOff: false };
}
