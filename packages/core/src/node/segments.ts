/**
 * What happens to fetched bytes: they go to the readers that wait for them, then to the store if their block was admitted,
 * and their memory is free again.
 *
 * A segment that isn't admitted is freed once its last byte went to a reader: what comes before that byte has been served
 * by then, or belongs to readers that left. A second reader of the same bytes asks the doorkeeper again, so a segment can
 * become admitted while it waits.
 */
import { assert } from '../base/assert.ts';
import { NO_MEMORY, PAGE_BYTES } from '../base/fill-memory.ts';
import { NO_SLOT, type SlotId } from '../store/store.ts';
import type { Fetch, Segment } from './fetch.ts';
import type { NodeParts } from './parts.ts';
import type { Reader } from './reader.ts';

export class Segments {
  readonly #parts: NodeParts;
  readonly #writing = new Map<SlotId, Segment>();

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  /** Lets a reader wait for its bytes, all of which the segment has or will have. */
  attach(segment: Segment, reader: Reader): void {
    const { fetch } = segment;
    assert(segment.first <= reader.first && reader.last <= segment.last, 'a reader fits in');
    reader.waitsFor = 'segment';
    reader.fetchId = fetch.id;
    segment.readers.append(reader);
    segment.askedTo = Math.max(segment.askedTo, reader.last + 1);
    fetch.readers += 1;
    fetch.wanted = Math.max(fetch.wanted, segment.block - fetch.firstBlock);
    if (fetch.idle.list !== null) this.#parts.fetches.idle.remove(fetch.idle);
  }

  detach(segment: Segment, reader: Reader): void {
    segment.readers.remove(reader);
    segment.fetch.readers -= 1;
  }

  /** A first reader came for bytes of the segment: its block counts as read. */
  countRead(now: number, segment: Segment): void {
    const { fetch } = segment;
    if (segment.isRead || !fetch.mayStore) return;
    segment.isRead = true;
    this.#parts.admission.admits(now, fetch.bucket, fetch.version, segment.block);
  }

  /** A second reader came for bytes up to `partLast`: the blocks from `segment` on count as read once more. */
  readAgain(now: number, segment: Segment, partLast: number): void {
    const { admission } = this.#parts;
    const { fetch } = segment;
    for (let i = segment.block - fetch.firstBlock; i < fetch.segmentCount; i++) {
      const next = fetch.segments[i]!;
      if (next.first > partLast) return;
      if (next.state === 'gone' || next.isAdmitted || !fetch.mayStore) continue;
      this.countRead(now, next);
      next.isAdmitted = admission.admits(now, fetch.bucket, fetch.version, next.block);
      if (next !== segment) this.settle(now, next);
    }
  }

  /** Sends what has arrived to those that wait for it. */
  serve(now: number, segment: Segment): void {
    for (let reader = segment.readers.first; reader !== null;) {
      const { after } = reader;
      const isDone =
        reader.kind === 'lookup'
          ? this.#serveLookup(now, segment, reader)
          : this.#serveBlocks(segment, reader);
      if (isDone) {
        segment.servedTo = Math.max(segment.servedTo, reader.last + 1);
        this.detach(segment, reader);
        this.#parts.readers.release(reader);
      }
      reader = after;
    }
  }

  /** A whole segment goes to the store if it was admitted, and away if it was served to its end. */
  settle(now: number, segment: Segment): void {
    if (segment.state !== 'whole') return;
    if (segment.isAdmitted && segment.isBlock && this.#store(now, segment)) return;
    if (segment.readers.size === 0 && segment.servedTo > segment.last) this.drop(segment);
  }

  /** The write ended: the block is found from now on, or it is only for those that read it now. Returns its fetch. */
  written(now: number, slot: SlotId, errno: number, checksum: number): Fetch {
    const { store, counters, journal } = this.#parts;
    const segment = this.#writing.get(slot);
    assert(segment !== undefined, 'every write ends once');
    this.#writing.delete(slot);
    segment.fetch.writing -= 1;
    if (errno === 0) {
      if (store.publish(slot)) {
        counters.blocksStored += 1;
        journal.published(now, slot, checksum);
      }
      this.drop(segment);
    } else {
      counters.writesFailed += 1;
      store.cancel(slot);
      segment.isAdmitted = false;
      segment.state = 'whole';
      this.settle(now, segment);
    }
    return segment.fetch;
  }

  /** Nobody needs its bytes any more. */
  drop(segment: Segment): void {
    assert(segment.readers.size === 0, 'nobody waits for bytes that are dropped');
    if (segment.memory !== NO_MEMORY) this.#parts.memory.free(segment.memory);
    segment.memory = NO_MEMORY;
    segment.state = 'gone';
  }

  /** A lookup's body always goes in one piece. */
  #serveLookup(now: number, segment: Segment, reader: Reader): boolean {
    const { asker, metadata, first, last } = reader;
    if (segment.arrivedTo <= last) return false;
    assert(metadata !== null, 'a lookup waits for bytes once its metadata is known');
    const ageMs = now - reader.confirmedAt;
    const { lifetimeMs } = reader;
    const memory = segment.memory + first - segment.first;
    const length = last - first + 1;
    this.#parts.effects.answerMetadataFromMemory(
      asker,
      metadata,
      ageMs,
      lifetimeMs,
      first,
      memory,
      length,
      segment.isAdmitted,
    );
    return true;
  }

  /** Small answers go in one piece, larger ones as their bytes come. */
  #serveBlocks(segment: Segment, reader: Reader): boolean {
    const { effects, limits } = this.#parts;
    const { arrivedTo } = segment;
    const isWhole = arrivedTo > reader.last;
    const { length } = reader;
    if (!isWhole && (length <= limits.smallAnswerBytes || arrivedTo <= reader.position)) {
      return false;
    }
    if (!reader.hasBegun) {
      reader.hasBegun = true;
      effects.beginAnswer(reader.asker, length, segment.isAdmitted);
    }
    const end = isWhole ? reader.last + 1 : arrivedTo;
    const memory = segment.memory + reader.position - segment.first;
    effects.continueFromMemory(reader.asker, memory, end - reader.position);
    reader.position = end;
    return isWhole;
  }

  #store(now: number, segment: Segment): boolean {
    const { store, ownership, handovers, journal, counters, limits } = this.#parts;
    const { fetch, block, length } = segment;
    // A disk that can't keep up costs blocks that aren't stored, never a read: each write holds its fetch's record.
    if (this.#writing.size >= limits.maxWrites) {
      counters.writesExhausted += 1;
      segment.isAdmitted = false;
      return false;
    }
    if (!journal.accepts()) {
      segment.isAdmitted = false;
      return false;
    }
    const placement = ownership.placementOf(fetch.hash, fetch.size, block);
    if (fetch.isLent && !handovers.lends(now, placement) && !ownership.ranksFirst(placement)) {
      segment.isAdmitted = false;
      return false;
    }
    const slot = store.reserve(fetch.version, block, placement.hi, placement.lo, length);
    if (slot === NO_SLOT) {
      counters.storeExhausted += 1;
      segment.isAdmitted = false;
      return false;
    }
    counters.admissions += 1;
    segment.state = 'writing';
    fetch.writing += 1;
    this.#writing.set(slot, segment);
    journal.write(slot, segment.memory, Math.ceil(length / PAGE_BYTES) * PAGE_BYTES);
    return true;
  }
}
