/** What S3's answer to a lookup says, and whether it answers what was asked. */
import type { ObjectMetadata } from '../read.ts';
import type { FetchHead } from './effects.ts';
import type { Fetch } from './fetch.ts';

/** Whether a 304 is of the same bytes stored once more: what else it says of the object may be new, and isn't told. */
export function isStoredAgain(known: ObjectMetadata, { lastModified }: FetchHead): boolean {
  return lastModified !== 0 && lastModified !== known.lastModified;
}

/** Whether the request makes S3 tell the object's checksums. */
export function tellsChecksums(fetch: Fetch): boolean {
  return fetch.headOnly || fetch.isWhole;
}

/** Whether the body is what the range asked for: S3 may also send the whole object. */
export function isAnswerToRange(fetch: Fetch, head: FetchHead): boolean {
  const { size, first, length } = head;
  if (head.status === 200) return first === 0 && length === size;
  if (fetch.rangeKind === 'suffix') {
    const expected = Math.max(0, size - fetch.first);
    return first === expected && length === size - expected;
  }
  return first === fetch.first && length === Math.min(fetch.last, size - 1) - first + 1;
}
