// S3's preconditions, in S3's order of precedence: entity tags win over dates.
import { S3Error } from './s3-error.ts';
import type { Bucket, StoredObject } from './store/store.ts';
import type { ByteString } from './byte-string.ts';

type Headers = ReadonlyMap<string, string>;

/** The outcome of a conditional read. */
export function readPrecondition(
  headers: Headers,
  object: StoredObject,
  prefix = '',
): 'pass' | 'not-modified' | { readonly failed: string } {
  const ifMatch = headers.get(`${prefix}if-match`);
  const ifNoneMatch = headers.get(`${prefix}if-none-match`);
  const modifiedSeconds = Math.floor(object.lastModifiedMs / 1000);
  if (ifMatch !== undefined) {
    if (!matchesTag(ifMatch, object.etag)) return { failed: 'If-Match' };
  } else {
    const since = parseSeconds(headers.get(`${prefix}if-unmodified-since`));
    if (since !== null && modifiedSeconds > since) return { failed: 'If-Unmodified-Since' };
  }
  if (ifNoneMatch !== undefined) {
    if (matchesTag(ifNoneMatch, object.etag)) return 'not-modified';
  } else {
    const since = parseSeconds(headers.get(`${prefix}if-modified-since`));
    if (since !== null && modifiedSeconds <= since) return 'not-modified';
  }
  return 'pass';
}

/** A copy's conditions on its source: everything that isn't met is a 412. */
export function checkCopySource(headers: Headers, object: StoredObject): void {
  const outcome = readPrecondition(headers, object, 'x-amz-copy-source-');
  if (outcome !== 'pass') throw preconditionFailed('x-amz-copy-source-If-Match');
}

/** Conditional writes and deletes, checked at the moment of the change. @throws S3Error */
export function checkWrite(headers: Headers, bucket: Bucket, key: ByteString): void {
  const existing = bucket.get(key);
  const ifNoneMatch = headers.get('if-none-match');
  if (ifNoneMatch !== undefined) {
    if (ifNoneMatch !== '*') {
      throw new S3Error('NotImplemented', 'If-None-Match of a write can only be *.');
    }
    if (existing !== null) throw preconditionFailed('If-None-Match');
  }
  const ifMatch = headers.get('if-match');
  if (ifMatch === undefined) return;
  if (existing === null) throw new S3Error('NoSuchKey');
  if (!matchesTag(ifMatch, existing.etag)) throw preconditionFailed('If-Match');
}

export function preconditionFailed(condition: string): S3Error {
  return new S3Error('PreconditionFailed', undefined, { Condition: condition });
}

/** Lists, `*`, weak tags and tags without quotes all count. */
function matchesTag(header: string, etag: string): boolean {
  return header.split(',').some((candidate) => {
    const tag = candidate.trim();
    return tag === '*' || tag.replace(/^W\//, '').replace(/^"(.*)"$/, '$1') === etag;
  });
}

function parseSeconds(date: string | undefined): number | null {
  const ms = Date.parse(date ?? '');
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}
