/**
 * One request in flight, to S3 or to a previous owner: which bytes it brings, cut into segments (one for each block it touches), and
 * where they are. The records only; fill.ts moves bytes through them, home.ts uses them for lookups.
 *
 * A fetch outlives its stream: it goes once every segment is gone, so that bytes which still wait for their reader or for
 * the disk can be found.
 *
 * | segment | memory | what it is                                                      |
 * | ahead   | no (1) | the stream hasn't reached it                                    |
 * | filling | yes    | its bytes are arriving                                          |
 * | whole   | yes    | all its bytes are here, waiting for a reader                    |
 * | writing | yes    | all its bytes are here, and on their way to a slot of the store |
 * | gone    | no     | served, stored or given up                                      |
 *
 * (1) The first segment of a fill has its memory from the start, so that a fill that begins can go on.
 *
 * Memory: about 4 KiB a fetch, most of it the segments.
 */
import { assert } from '../base/assert.ts';
import { NO_MEMORY } from '../base/fill-memory.ts';
import { equalHash128, type Hash128 } from '../base/hash.ts';
import { LinkedList, type Linked } from '../base/linked-list.ts';
import type { RangeKind } from '../s3/byte-range.ts';
import { NO_ID, SlotPool, type PoolId } from '../base/slot-pool.ts';
import type { FetchRequest } from './effects.ts';
import type { Reader } from './reader.ts';

export class Segment {
  readonly fetch: Fetch;
  state: 'ahead' | 'filling' | 'whole' | 'writing' | 'gone' = 'gone';
  block = 0;
  /** Bytes [first, last] of the object. */
  first = 0;
  last = 0;
  /** Bytes that have arrived. */
  received = 0;
  memory = NO_MEMORY;
  /** It is the whole of its block, so it could be stored. */
  isBlock = false;
  isAdmitted = false;
  /** Its block counts as read at the doorkeeper. */
  isRead = false;
  /** Positions before this one were asked for; a reader below it is a second one. */
  askedTo = 0;
  /** Positions before this one went to some reader. */
  servedTo = 0;
  /** Those that wait for bytes of it. */
  readonly readers = new LinkedList<Reader>();

  constructor(fetch: Fetch) {
    this.fetch = fetch;
  }

  get length(): number {
    return this.last - this.first + 1;
  }

  /** Position of the first byte that hasn't arrived. */
  get arrivedTo(): number {
    return this.first + this.received;
  }
}

/** A fetch's place among those that wait for their next reader, or for a previous owner: the oldest first. */
export class DeadlineMark implements Linked<DeadlineMark> {
  readonly fetch: Fetch;
  deadline = 0;
  list: LinkedList<DeadlineMark> | null = null;
  before: DeadlineMark | null = null;
  after: DeadlineMark | null = null;

  constructor(fetch: Fetch) {
    this.fetch = fetch;
  }
}

export class Fetch {
  id: PoolId = NO_ID;
  /** lookup: its head answers a lookup. fill: bytes for the segments. direct: bytes for one reader, past the memory. */
  purpose: 'lookup' | 'fill' | 'direct' = 'fill';
  /** asked: no head yet. flowing: the body comes. over: nothing more comes. */
  stream: 'asked' | 'flowing' | 'over' = 'asked';
  bucket = '';
  key = '';
  readonly hash: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };

  /** The previous owner or lender that is asked or brings the bytes; -1 for S3. */
  peer = -1;
  /** Who may have what is wanted, and which of them is next. */
  readonly previousOwners: number[] = [];
  previousOwnerCount = 0;
  nextOwner = 0;
  readonly patience = new DeadlineMark(this);
  /** Its blocks may be stored here: this node owns them, holds a lease of them, or stands in for who owns them. */
  mayStore = false;
  /** They may be for as long as the lease lasts. */
  isLent = false;

  /** lookup: what was asked. */
  headOnly = false;
  /** Asked without a range. */
  isWhole = false;
  /** A reader among those that it is for says that this node stands in for the home. */
  standsIn = false;
  rangeKind: RangeKind = 'none';
  sentAt = 0;
  /** Readers up to this arrival asked before the fetch was sent. */
  sentAfter = 0;

  /** fill, direct: the version asked for. */
  readonly version: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
  etag = '';
  size = 0;
  /** Bytes [first, last] are wanted. */
  first = 0;
  last = 0;
  /** The last byte that the stream would bring; beyond `last` it is cut off. */
  streamLast = 0;

  firstBlock = 0;
  segmentCount = 0;
  readonly segments: Segment[] = [];
  /** Index of the segment that the stream is at. */
  current = 0;
  /** The highest index that a reader asked for. */
  wanted = 0;
  /** Readers that wait for bytes. */
  readers = 0;
  /** Segments on their way to the store. */
  writing = 0;
  direct: Reader | null = null;

  readonly idle = new DeadlineMark(this);
  /** Its place in the table of fetches. */
  place = -1;

  constructor(maxSegments: number) {
    for (let i = 0; i < maxSegments; i++) this.segments.push(new Segment(this));
  }

  /** The segment of a block, null when the fetch doesn't touch it. */
  segmentOf(block: number): Segment | null {
    const index = block - this.firstBlock;
    return index >= 0 && index < this.segmentCount ? this.segments[index]! : null;
  }
}

/** A request to fill in before it is handed to the driver. */
export function newFetchRequest(): FetchRequest {
  return {
    bucket: '',
    key: '',
    headOnly: false,
    rangeKind: 'none',
    first: 0,
    last: 0,
    ifMatch: '',
    ifNoneMatch: '',
  };
}

/** The pool of fetches, with the active ones in an array and the idle ones in order of their deadlines. */
export class Fetches {
  readonly #pool: SlotPool<Fetch>;
  readonly active: Fetch[] = [];
  readonly idle = new LinkedList<DeadlineMark>();

  constructor(maxFetches: number, maxSegments: number) {
    this.#pool = new SlotPool(maxFetches, () => new Fetch(maxSegments));
  }

  get inUse(): number {
    return this.#pool.inUse;
  }

  get isFull(): boolean {
    return this.#pool.inUse === this.#pool.capacity;
  }

  /** A fetch in state `asked` with no segments, null when all are in use. */
  acquire(): Fetch | null {
    const id = this.#pool.acquire();
    const fetch = this.#pool.get(id);
    if (fetch === null) return null;
    fetch.id = id;
    fetch.stream = 'asked';
    fetch.segmentCount = 0;
    fetch.current = 0;
    fetch.wanted = 0;
    fetch.readers = 0;
    fetch.writing = 0;
    fetch.direct = null;
    fetch.peer = -1;
    fetch.mayStore = false;
    fetch.isLent = false;
    fetch.standsIn = false;
    fetch.place = this.active.length;
    this.active.push(fetch);
    return fetch;
  }

  get(id: PoolId): Fetch | null {
    return this.#pool.get(id);
  }

  /** Gives back a fetch that holds nothing any more. */
  release(fetch: Fetch): void {
    assert(fetch.readers === 0 && fetch.writing === 0, 'a fetch goes when nothing waits for it');
    assert(fetch.patience.list === null, 'a fetch goes once nobody is asked');
    if (fetch.idle.list !== null) this.idle.remove(fetch.idle);
    const last = this.active.pop()!;
    if (last !== fetch) {
      this.active[fetch.place] = last;
      last.place = fetch.place;
    }
    this.#pool.release(fetch.id);
    fetch.id = NO_ID;
  }

  /**
   * The segment that holds or will soon bring bytes [first, last] of a block, null when there is none. `aheadSegments`
   * bounds how far the stream may have to go for it: from where it is, or from the block behind the last one asked for, so
   * that pieces which are asked for in parallel share one stream.
   */
  find(
    version: Hash128,
    block: number,
    first: number,
    last: number,
    aheadSegments: number,
  ): Segment | null {
    for (const fetch of this.active) {
      if (fetch.purpose !== 'fill' || !equalHash128(fetch.version, version)) continue;
      const segment = fetch.segmentOf(block);
      if (segment === null || segment.state === 'gone') continue;
      if (first < segment.first || last > segment.last) continue;
      const reach = Math.max(fetch.current, fetch.wanted + 1) + aheadSegments;
      if (block - fetch.firstBlock <= reach) return segment;
    }
    return null;
  }
}
