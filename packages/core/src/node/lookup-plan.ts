/**
 * What a lookup asks for: the bytes that its first reader wants, which describe their object as well, or the head alone.
 */
import { copyHash128 } from '../base/hash.ts';
import { MAX_OBJECT_BYTES, type Layout } from '../layout.ts';
import type { ObjectMetadata } from '../read.ts';
import type { FetchRequest } from './effects.ts';
import type { Fetch } from './fetch.ts';
import type { Reader } from './reader.ts';

/**
 * The leader's range, as far as its first chunk goes; the head alone where that can't be said. A whole object is asked for whole,
 * since only then S3 tells its checksums; what lies behind the first chunk is cut off.
 */
export function planLookup(layout: Layout, fetch: Fetch, leader: Reader, headOnly: boolean): void {
  const { range } = leader;
  nameObject(fetch, leader);
  fetch.headOnly = headOnly || leader.bodyLimit === 0;
  fetch.isWhole = range.kind === 'none';
  const isOpen = range.kind === 'none' || range.kind === 'from';
  fetch.first = range.kind === 'none' ? 0 : range.first;
  if (range.kind === 'suffix') {
    fetch.rangeKind = 'suffix';
    fetch.last = 0;
    if (range.first === 0 || range.first > layout.tailBytes) fetch.headOnly = true;
  } else {
    const chunkLast = (layout.chunkOf(fetch.first) + 1) * layout.chunkBytes - 1;
    fetch.rangeKind = 'bounded';
    fetch.last = isOpen ? chunkLast : Math.min(range.last, chunkLast);
  }
  if (fetch.first >= MAX_OBJECT_BYTES) fetch.headOnly = true;
}

/** The head alone of the object that a reader or another fetch names. */
export function planHead(fetch: Fetch, named: Reader | Fetch): void {
  nameObject(fetch, named);
  fetch.headOnly = true;
  fetch.isWhole = false;
}

/** The request to S3 for what was planned; what is `known` is only to be confirmed, null for a first fetch. */
export function writeLookupRequest(
  fetch: Fetch,
  known: ObjectMetadata | null,
  request: FetchRequest,
): void {
  request.bucket = fetch.bucket;
  request.key = fetch.key;
  request.headOnly = fetch.headOnly;
  request.rangeKind = fetch.headOnly || fetch.isWhole ? 'none' : fetch.rangeKind;
  request.first = fetch.headOnly ? 0 : fetch.first;
  request.last = fetch.headOnly ? 0 : fetch.last;
  request.ifNoneMatch = known === null ? '' : known.etag;
}

function nameObject(fetch: Fetch, { bucket, key, hash }: Reader | Fetch): void {
  fetch.bucket = bucket;
  fetch.key = key;
  copyHash128(hash, fetch.hash);
}
