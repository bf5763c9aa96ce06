/**
 * Missing bytes to their readers: one GET with If-Match from S3, received segment by segment into the fill memory. While the window
 * after a ring change lasts, a block comes from its previous owner if that holds it, and one that is lent from its owner (handovers.ts).
 *
 * ```
 *            onHead             onBytes: serve, receive the next       onEnd
 * start ─► asked ──────► flowing ─────────────────────────────────► over ─► released, once no segment is left
 *   │        │              ▲│
 *   │        │              │└► parked, readAheadSegments beyond its readers ─► given up after idleFetchMs
 *   │        │              └─────── join ─────┘
 *   │        └─► failed: every reader is answered
 *   ├─► no memory: streamed straight to its one reader
 *   └─► a previous owner is asked ─► flowing, as above
 *            └─► it has nothing, is silent, breaks off: the next one is asked; else its readers start over at S3, or the rest of
 *                a block that had begun comes from there
 * ```
 * A read that comes while the fetch is in flight joins it; the last reader that leaves unserved takes the fetch along.
 *
 * Invariants: bytes are used only if the head named the version and range that were asked for. A reader waits in a
 * segment that brings all its bytes, and such segments are received without waiting for anybody else. Failures reach
 * only readers that came before the fetch was sent; later ones start over.
 */
import { assert } from '../base/assert.ts';
import { NO_MEMORY } from '../base/fill-memory.ts';
import { copyHash128 } from '../base/hash.ts';
import { NO_ID } from '../base/slot-pool.ts';
import type { OriginError, ReadAnswer, ReadFailure } from '../read.ts';
import type { SlotId } from '../store/store.ts';
import { answerFailure, answerMetadata, startOver } from './answers.ts';
import type { FetchEnd, FetchHead, FetchId } from './effects.ts';
import { newFetchRequest, type Fetch, type Segment } from './fetch.ts';
import { isWhatWasAsked } from './fill-answer.ts';
import { planAdopted, planFill, planHandover } from './fill-plan.ts';
import type { NodeParts } from './parts.ts';
import type { Reader } from './reader.ts';
import { Segments } from './segments.ts';

export class Fills {
  readonly #parts: NodeParts;
  readonly #segments: Segments;
  readonly #request = newFetchRequest();

  constructor(parts: NodeParts) {
    this.#parts = parts;
    this.#segments = new Segments(parts);
  }

  /** The moment that the oldest idle fetch is given up, Infinity when none is idle. */
  get deadline(): number {
    return this.#parts.fetches.idle.first?.deadline ?? Infinity;
  }

  /** A fetch to use, at the cost of an idle one if need be; null when all are busy. */
  acquire(now: number): Fetch | null {
    const { fetches, counters } = this.#parts;
    for (let mark = fetches.idle.first; fetches.isFull && mark !== null;) {
      const { after } = mark;
      if (mark.fetch.writing === 0) this.giveUp(now, mark.fetch);
      mark = after;
    }
    const fetch = fetches.acquire();
    if (fetch === null) counters.fetchesExhausted += 1;
    return fetch;
  }

  /** The segment in flight that a reader's bytes can be had from, null when there is none. */
  find(reader: Reader): Segment | null {
    const { fetches, layout, limits } = this.#parts;
    const { version, first, last } = reader;
    const block = layout.blockOf(first);
    return fetches.find(version, block, first, last, limits.readAheadSegments);
  }

  /** Fetches a reader's bytes, and what its read will want after them as far as that is missing. */
  start(now: number, reader: Reader): void {
    const fetch = this.acquire(now);
    if (fetch === null) {
      answerFailure(this.#parts, reader, 'busy', null);
      return;
    }
    const { counters, handovers } = this.#parts;
    fetch.purpose = 'fill';
    fetch.bucket = reader.bucket;
    fetch.key = reader.key;
    copyHash128(reader.hash, fetch.hash);
    copyHash128(reader.version, fetch.version);
    fetch.etag = reader.etag;
    fetch.size = reader.size;
    if (reader.mustStream) {
      this.#stream(fetch, reader);
      return;
    }
    const isHandedOver = this.#takesOver(now, fetch, reader);
    if (isHandedOver) planHandover(this.#parts, fetch, reader);
    else planFill(this.#parts, now, fetch, reader);
    const segment = fetch.segments[0]!;
    segment.memory = this.#allocate(now, segment.length, true);
    this.#segments.countRead(now, segment);
    if (segment.memory === NO_MEMORY) {
      this.#stream(fetch, reader);
      return;
    }
    this.#segments.attach(segment, reader);
    if (isHandedOver) {
      handovers.askForBlock(now, fetch);
      return;
    }
    counters.fills += 1;
    this.#count(reader, fetch, false);
    this.#send(fetch);
  }

  /** Lets a reader have its bytes from a segment that `find` gave. */
  join(now: number, segment: Segment, reader: Reader): void {
    const { fetch } = segment;
    const isSecond = reader.first < segment.askedTo;
    // Of a previous owner's block it isn't known yet where it comes from.
    if (fetch.peer < 0 || fetch.stream !== 'asked') this.#count(reader, fetch, isSecond);
    if (reader.kind === 'blocks' && reader.standsIn) fetch.mayStore = true;
    this.#segments.attach(segment, reader);
    if (isSecond) this.#segments.readAgain(now, segment, reader.partLast);
    else this.#segments.countRead(now, segment);
    this.#segments.serve(now, segment);
    this.#segments.settle(now, segment);
    this.#pump(now, segment.fetch);
    this.#settle(now, segment.fetch);
  }

  /**
   * A lookup's fetch brings bytes [first, streamLast] of a version: from now on it is a fill of those up to `last`, which
   * readers can join.
   */
  adopt(now: number, fetch: Fetch, first: number, last: number): void {
    fetch.purpose = 'fill';
    fetch.stream = 'flowing';
    planAdopted(this.#parts, now, fetch, first, last);
  }

  /** After the readers of a lookup had their chance to join its fetch: without any it isn't wanted. */
  keepIfJoined(now: number, id: FetchId): void {
    const fetch = this.#parts.fetches.get(id);
    if (fetch !== null && fetch.readers === 0) this.giveUp(now, fetch);
  }

  onHead(now: number, fetch: Fetch, head: FetchHead): void {
    const { effects, counters, metadata } = this.#parts;
    if (isWhatWasAsked(fetch, head)) {
      fetch.stream = 'flowing';
      const { direct } = fetch;
      if (direct === null) {
        this.#pump(now, fetch);
        return;
      }
      direct.hasBegun = true;
      effects.beginAnswer(direct.asker, direct.length, false);
      effects.receiveDirect(fetch.id, direct.asker);
      return;
    }
    const { status, error } = head;
    if (error !== null) fetch.stream = 'over';
    if (error !== null && status !== 404 && status !== 412 && status !== 416) {
      this.#fail(now, fetch, 'origin', error);
      return;
    }
    if (error === null) counters.oddAnswers += 1;
    counters.changes += 1;
    metadata.dropVersion(fetch.hash, fetch.etag);
    this.#fail(now, fetch, 'changed', null);
  }

  /** A previous owner says what it has. */
  onPeerAnswer(now: number, fetch: Fetch, answer: ReadAnswer): void {
    const { handovers, counters, effects } = this.#parts;
    handovers.answered(now, fetch, answer);
    if (answer.kind !== 'bytes' || answer.bodyLength !== fetch.last - fetch.first + 1) {
      if (answer.kind !== 'failure') counters.oddAnswers += 1;
      if (answer.bodyLength > 0) effects.cancelFetch(fetch.id);
      this.fallBack(now, fetch);
      return;
    }
    handovers.progressed(now, fetch);
    fetch.stream = 'flowing';
    const { readers } = fetch.segments[0]!;
    for (let reader = readers.first; reader !== null; reader = reader.after) {
      this.#count(reader, fetch, false);
    }
    this.#pump(now, fetch);
  }

  /** The previous owner that was asked brings no more: what is missing comes from the next one, or from S3. */
  fallBack(now: number, fetch: Fetch): void {
    const { handovers, counters } = this.#parts;
    const segment = fetch.segments[0]!;
    handovers.ended(fetch);
    fetch.stream = 'over';
    if (fetch.current === fetch.segmentCount) {
      this.#settle(now, fetch);
    } else if (fetch.readers === 0) {
      this.giveUp(now, fetch);
    } else if (segment.received > 0) {
      // Of the same version, as If-Match makes sure.
      segment.state = 'ahead';
      fetch.first = segment.arrivedTo;
      fetch.stream = 'asked';
      counters.fills += 1;
      this.#send(fetch);
    } else if (handovers.chooseNext(now, fetch)) {
      handovers.askForBlock(now, fetch);
    } else {
      this.#sendBack(now, fetch, (reader) => (reader.skipsPeers = true));
    }
  }

  onBytes(now: number, fetch: Fetch, count: number): void {
    const { counters, handovers } = this.#parts;
    if (fetch.peer < 0) {
      counters.fetchedBytes += count;
    } else {
      counters.takenOverBytes += count;
      handovers.progressed(now, fetch);
    }
    const segment = fetch.segments[fetch.current];
    assert(
      segment?.state === 'filling' && segment.received + count <= segment.length,
      'bytes arrive where a place was given for them',
    );
    segment.received += count;
    this.#segments.serve(now, segment);
    if (segment.received === segment.length) {
      segment.state = 'whole';
      if (fetch.peer >= 0) counters.blocksTakenOver += 1;
      this.#segments.settle(now, segment);
      fetch.current += 1;
      this.#pump(now, fetch);
    }
    this.#settle(now, fetch);
  }

  onEnd(now: number, fetch: Fetch, end: FetchEnd): void {
    const { counters, readers } = this.#parts;
    if (fetch.peer >= 0) {
      this.fallBack(now, fetch);
      return;
    }
    fetch.stream = 'over';
    const { direct } = fetch;
    if (end === 'complete' && direct !== null) {
      counters.fetchedBytes += direct.length;
      fetch.direct = null;
      readers.release(direct);
      this.#settle(now, fetch);
    } else if (end === 'complete' && fetch.current === fetch.segmentCount) {
      this.#settle(now, fetch);
    } else {
      counters.brokenBodies += 1;
      this.#fail(now, fetch, 'origin', null);
    }
  }

  /** There was no answer at all. */
  onFailed(now: number, fetch: Fetch, error: OriginError | null): void {
    fetch.stream = 'over';
    this.#fail(now, fetch, 'origin', error);
  }

  onSlotWritten(now: number, slot: SlotId, errno: number, checksum: number): void {
    this.#settle(now, this.#segments.written(now, slot, errno, checksum));
  }

  /** A reader left; with the last one goes the fetch. */
  leave(now: number, reader: Reader): void {
    const { fetches, readers, layout } = this.#parts;
    const fetch = fetches.get(reader.fetchId);
    assert(fetch !== null, 'a reader waits for a fetch that is there');
    if (fetch.direct === reader) {
      fetch.direct = null;
    } else {
      const segment = fetch.segmentOf(layout.blockOf(reader.first));
      assert(segment !== null, 'a reader waits in a segment that is there');
      this.#segments.detach(segment, reader);
    }
    readers.release(reader);
    if (fetch.readers === 0) this.giveUp(now, fetch);
  }

  /** Gives up the fetches whose next reader didn't come in time. */
  onTick(now: number): void {
    const { idle } = this.#parts.fetches;
    for (let mark = idle.first; mark !== null && mark.deadline <= now; mark = idle.first) {
      this.giveUp(now, mark.fetch);
    }
  }

  /** Ends a fetch that nobody waits for; what is on its way to the store still gets there. */
  giveUp(now: number, fetch: Fetch): void {
    assert(fetch.readers === 0 && fetch.direct === null, 'nobody waits for what is given up');
    this.#stopStream(fetch);
    for (let i = 0; i < fetch.segmentCount; i++) {
      const segment = fetch.segments[i]!;
      if (segment.state !== 'writing' && segment.state !== 'gone') this.#segments.drop(segment);
    }
    this.#settle(now, fetch);
  }

  /** Whether a reader's block is asked of a previous owner or a lender, who is chosen; and whether it may be stored here at all. */
  #takesOver(now: number, fetch: Fetch, reader: Reader): boolean {
    const { layout, ownership, handovers } = this.#parts;
    const { hash, size } = reader;
    const placement = ownership.placementOf(hash, size, layout.blockOf(reader.first));
    fetch.isLent = handovers.lends(now, placement);
    fetch.mayStore = fetch.isLent || ownership.ranksFirst(placement);
    if (fetch.mayStore) return !reader.skipsPeers && handovers.choose(now, fetch, placement);
    fetch.mayStore = reader.standsIn;
    if (reader.standsIn) ownership.keptForAnother(now);
    return false;
  }

  #count(reader: Reader, fetch: Fetch, isSecond: boolean): void {
    const { counters } = this.#parts;
    if (isSecond) {
      counters.readsFromFill += 1;
      counters.bytesFromFill += reader.length;
    } else if (fetch.peer >= 0) {
      counters.readsFromPeers += 1;
      counters.bytesFromPeers += reader.length;
    } else {
      counters.readsFromS3 += 1;
      counters.bytesFromS3 += reader.length;
    }
  }

  /** Past the memory: exactly the reader's bytes, straight to it. */
  #stream(fetch: Fetch, reader: Reader): void {
    this.#parts.counters.directStreams += 1;
    fetch.peer = -1;
    this.#count(reader, fetch, false);
    fetch.purpose = 'direct';
    fetch.segmentCount = 0;
    fetch.first = reader.first;
    fetch.last = reader.last;
    fetch.direct = reader;
    reader.waitsFor = 'stream';
    reader.fetchId = fetch.id;
    this.#send(fetch);
  }

  #send(fetch: Fetch): void {
    const request = this.#request;
    fetch.sentAfter = this.#parts.arrivals;
    request.bucket = fetch.bucket;
    request.key = fetch.key;
    request.rangeKind = 'bounded';
    request.first = fetch.first;
    request.last = fetch.last;
    request.ifMatch = fetch.etag;
    this.#parts.effects.startFetch(fetch.id, request);
  }

  /** Receives on, as far as readers have asked and the read-ahead goes. */
  #pump(now: number, fetch: Fetch): void {
    if (fetch.stream !== 'flowing') return;
    if (fetch.current === fetch.segmentCount) {
      // The driver reports the end of what was asked for; what a lookup's stream has beyond is cut off.
      if (fetch.streamLast > fetch.last) this.#stopStream(fetch);
      return;
    }
    const segment = fetch.segments[fetch.current]!;
    if (segment.state !== 'ahead') return;
    if (fetch.current > fetch.wanted + this.#parts.limits.readAheadSegments) return;
    const isAwaited = fetch.readers > 0;
    if (segment.memory === NO_MEMORY) {
      segment.memory = this.#allocate(now, segment.length, isAwaited);
    }
    if (segment.memory === NO_MEMORY) {
      if (isAwaited) this.#starve(now, fetch, segment);
      return;
    }
    segment.state = 'filling';
    const { memory, received, length } = segment;
    this.#parts.effects.receiveInto(fetch.id, memory + received, length - received);
  }

  /** Memory for a segment; one that readers wait for may cost idle fetches theirs. */
  #allocate(now: number, bytes: number, isAwaited: boolean): number {
    const { memory, fetches, counters } = this.#parts;
    for (;;) {
      const offset = memory.allocate(bytes);
      if (offset !== NO_MEMORY) return offset;
      const mark = isAwaited ? fetches.idle.first : null;
      if (mark === null) {
        counters.memoryExhausted += 1;
        return NO_MEMORY;
      }
      this.giveUp(now, mark.fetch);
    }
  }

  /** No memory for bytes that readers wait for: they get streams of their own, and the fetch is given up. */
  #starve(now: number, fetch: Fetch, segment: Segment): void {
    this.#sendBack(now, fetch, (reader) => {
      if (reader.list === segment.readers) reader.mustStream = true;
    });
  }

  /** The fetch is given up, and its readers start over; `mark` makes a difference to what they do then. */
  #sendBack(now: number, fetch: Fetch, mark: (reader: Reader) => void): void {
    for (let i = 0; i < fetch.segmentCount; i++) {
      const { readers } = fetch.segments[i]!;
      for (let reader = readers.first; reader !== null; reader = readers.first) {
        mark(reader);
        this.#segments.detach(fetch.segments[i]!, reader);
        if (reader.kind === 'lookup') answerMetadata(this.#parts, now, reader);
        else startOver(this.#parts, reader);
      }
    }
    this.giveUp(now, fetch);
  }

  /** The fetch brings no more: answers every reader, each as far as its answer has come. */
  #fail(now: number, fetch: Fetch, failure: ReadFailure, error: OriginError | null): void {
    const { direct } = fetch;
    if (direct !== null) {
      fetch.direct = null;
      this.#failReader(now, fetch, direct, failure, error);
    }
    for (let i = fetch.current; i < fetch.segmentCount; i++) {
      const segment = fetch.segments[i]!;
      for (let reader = segment.readers.first; reader !== null; reader = segment.readers.first) {
        this.#segments.detach(segment, reader);
        this.#failReader(now, fetch, reader, failure, error);
      }
      if (segment.state !== 'gone') this.#segments.drop(segment);
    }
    this.#stopStream(fetch);
    this.#settle(now, fetch);
  }

  #failReader(
    now: number,
    fetch: Fetch,
    reader: Reader,
    failure: ReadFailure,
    error: OriginError | null,
  ): void {
    const { effects, readers } = this.#parts;
    if (reader.hasBegun) {
      const { asker } = reader;
      readers.release(reader);
      effects.abortAnswer(asker);
    } else if (reader.kind === 'lookup' && failure === 'changed') {
      reader.failedEtag = fetch.etag;
      startOver(this.#parts, reader);
    } else if (reader.kind === 'lookup') {
      answerMetadata(this.#parts, now, reader);
    } else if (failure === 'origin' && reader.arrival > fetch.sentAfter) {
      startOver(this.#parts, reader);
    } else {
      answerFailure(this.#parts, reader, failure, error);
    }
  }

  #stopStream(fetch: Fetch): void {
    if (fetch.stream === 'over') return;
    fetch.stream = 'over';
    this.#parts.handovers.ended(fetch);
    this.#parts.counters.cancelledFetches += 1;
    this.#parts.effects.cancelFetch(fetch.id);
  }

  /** Releases a fetch that holds nothing more, and sets the deadline of one that waits for its next reader. */
  #settle(now: number, fetch: Fetch): void {
    const { fetches, limits } = this.#parts;
    if (fetch.id === NO_ID) return;
    if (fetch.readers > 0 || fetch.direct !== null) return;
    let waiting = fetch.stream === 'over' ? 0 : 1;
    for (let i = 0; i < fetch.segmentCount; i++) {
      if (fetch.segments[i]!.state === 'whole') waiting += 1;
    }
    if (waiting > 0) {
      if (fetch.idle.list !== null) return;
      fetch.idle.deadline = now + limits.idleFetchMs;
      fetches.idle.append(fetch.idle);
    } else if (fetch.writing === 0) {
      fetches.release(fetch);
    } else if (fetch.idle.list !== null) {
      fetches.idle.remove(fetch.idle);
    }
  }
}
