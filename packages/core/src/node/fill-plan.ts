/**
 * Which bytes a fill brings, and how they are cut into segments.
 *
 * Adjacent missing blocks come in one GET. Admitted blocks come whole, so that they can be stored; at the ends of others
 * only what is read. A block counts as read at the doorkeeper once a reader comes for it (segments.ts).
 */
import { assert } from '../base/assert.ts';
import { NO_MEMORY } from '../base/fill-memory.ts';
import type { Layout } from '../layout.ts';
import { NO_SLOT } from '../store/store.ts';
import type { Fetch } from './fetch.ts';
import type { NodeParts } from './parts.ts';
import type { Reader } from './reader.ts';

/** The whole of the reader's block: what a previous owner has is as good as read twice, and is stored at once. */
export function planHandover({ layout }: NodeParts, fetch: Fetch, reader: Reader): void {
  const block = layout.blockOf(reader.first);
  const first = layout.blockStart(block);
  fetch.streamLast = first + layout.blockLength(reader.size, block) - 1;
  layOut(layout, fetch, first, fetch.streamLast);
  const segment = fetch.segments[0]!;
  segment.isAdmitted = true;
  segment.isRead = true;
}

/**
 * From the reader's first block on, as far as the read goes and blocks are missing. Only a fetch whose blocks may be stored here asks
 * for admission.
 */
export function planFill(parts: NodeParts, now: number, fetch: Fetch, reader: Reader): void {
  const { layout, admission } = parts;
  const { version, size, bucket } = reader;
  const firstBlock = layout.blockOf(reader.first);
  const lastBlock = layout.blockOf(reader.partLast);
  let block = firstBlock;
  const { mayStore } = fetch;
  let isAdmitted = mayStore && admission.wouldAdmit(now, bucket, version, block);
  fetch.segments[0]!.isAdmitted = isAdmitted;
  const first = isAdmitted ? layout.blockStart(block) : reader.first;
  while (
    block < lastBlock &&
    block + 1 - firstBlock < fetch.segments.length &&
    isMissing(parts, reader, block + 1)
  ) {
    block += 1;
    isAdmitted = mayStore && admission.wouldAdmit(now, bucket, version, block);
    fetch.segments[block - firstBlock]!.isAdmitted = isAdmitted;
  }
  const blockLast = layout.blockStart(block) + layout.blockLength(size, block) - 1;
  const last = isAdmitted ? blockLast : Math.min(reader.partLast, blockLast);
  fetch.streamLast = last;
  layOut(layout, fetch, first, last);
}

/**
 * A lookup's stream brings bytes [first, last] of its object: takes them up to the first block that is in the store.
 */
export function planAdopted(
  parts: NodeParts,
  now: number,
  fetch: Fetch,
  first: number,
  last: number,
): void {
  const { layout, admission, store } = parts;
  let block = layout.blockOf(first);
  const lastBlock = layout.blockOf(last);
  while (block < lastBlock && store.find(fetch.version, block + 1) === NO_SLOT) block += 1;
  layOut(layout, fetch, first, Math.min(last, layout.blockStart(block + 1) - 1));
  for (let i = 0; i < fetch.segmentCount; i++) {
    const segment = fetch.segments[i]!;
    segment.isAdmitted =
      fetch.mayStore && admission.wouldAdmit(now, fetch.bucket, fetch.version, segment.block);
  }
}

/** Neither in the store nor about to arrive. */
function isMissing(parts: NodeParts, reader: Reader, block: number): boolean {
  const { layout, store, fetches, limits } = parts;
  const { version, size, partLast } = reader;
  if (store.find(version, block) !== NO_SLOT) return false;
  const first = layout.blockStart(block);
  const last = Math.min(partLast, first + layout.blockLength(size, block) - 1);
  return fetches.find(version, block, first, last, limits.readAheadSegments) === null;
}

/** Lays segments over bytes [first, last]; whether they are admitted is left as it is. */
function layOut(layout: Layout, fetch: Fetch, first: number, last: number): void {
  fetch.first = first;
  fetch.last = last;
  fetch.firstBlock = layout.blockOf(first);
  fetch.segmentCount = layout.blockOf(last) - fetch.firstBlock + 1;
  assert(fetch.segmentCount <= fetch.segments.length, 'a fetch is bounded by its segments');
  for (let i = 0; i < fetch.segmentCount; i++) {
    const segment = fetch.segments[i]!;
    const block = fetch.firstBlock + i;
    const start = layout.blockStart(block);
    const length = layout.blockLength(fetch.size, block);
    segment.state = 'ahead';
    segment.block = block;
    segment.first = Math.max(first, start);
    segment.last = Math.min(last, start + length - 1);
    segment.received = 0;
    segment.isRead = false;
    segment.memory = NO_MEMORY;
    segment.isBlock = segment.length === length;
    segment.askedTo = segment.first;
    segment.servedTo = segment.first;
  }
}
