/** What S3's answer to a lookup says, and whether it answers what was asked. */
import type { Hash128 } from '../base/hash.ts';
import { MAX_OBJECT_BYTES } from '../layout.ts';
import type { ObjectMetadata } from '../read.ts';
import type { FetchHead, IdentityDigest } from './effects.ts';
import type { Fetch } from './fetch.ts';

/** The object as S3 described it; null when it can't be cached: no strong name, no size, or a range nobody asked for. */
export function describedObject(
  digest: IdentityDigest,
  fetch: Fetch,
  head: FetchHead,
): ObjectMetadata | null {
  const { etag, size, lastModified } = head;
  if (etag === '' || size < 0 || size > MAX_OBJECT_BYTES) return null;
  if (!fetch.headOnly && !isAnswerToRange(fetch, head)) return null;
  const version: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
  digest.version(fetch.bucket, fetch.hash, etag, version);
  const headerLines = head.headerLines.slice();
  const knowsChecksums = tellsChecksums(fetch);
  return { etag, size, lastModified, headerLines, knowsChecksums, version };
}

/** Whether a 304 is of the same bytes stored once more: what else it says of the object may be new, and isn't told. */
export function isStoredAgain(known: ObjectMetadata, { lastModified }: FetchHead): boolean {
  return lastModified !== 0 && lastModified !== known.lastModified;
}

/** Whether the request makes S3 tell the object's checksums. */
export function tellsChecksums(fetch: Fetch): boolean {
  return fetch.headOnly || fetch.isWhole;
}

/** Whether the body is what the range asked for: S3 may also send the whole object. */
function isAnswerToRange(fetch: Fetch, head: FetchHead): boolean {
  const { size, first, length } = head;
  if (head.status === 200) return first === 0 && length === size;
  if (fetch.rangeKind === 'suffix') {
    const expected = Math.max(0, size - fetch.first);
    return first === expected && length === size - expected;
  }
  return first === fetch.first && length === Math.min(fetch.last, size - 1) - first + 1;
}
