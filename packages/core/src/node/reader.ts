/**
 * A read that couldn't be answered at once: a copy of the request, and how far its answer has come.
 *
 * Invariants: a reader is in exactly one list (a lookup's, a segment's, a verification's, or that of readers that go on) or is the
 * one reader of a direct stream; it is answered exactly once and released with its answer.
 */
import { copyHash128, type Hash128 } from '../base/hash.ts';
import { IdTable } from '../base/id-table.ts';
import type { Linked, LinkedList } from '../base/linked-list.ts';
import { NO_ID, SlotPool, type PoolId } from '../base/slot-pool.ts';
import type { ObjectMetadata, ReadRequest } from '../read.ts';
import { newRangeRequest, type RangeRequest } from '../s3/byte-range.ts';
import { NO_SLOT, type SlotId } from '../store/store.ts';
import type { Asker, FetchId } from './effects.ts';

export class Reader implements Linked<Reader> {
  id: PoolId = -1;
  asker: Asker = -1;
  kind: 'lookup' | 'blocks' = 'blocks';
  /** Its place in the order of all readers and fetches of this node. */
  arrival = 0;

  bucket = '';
  key = '';
  readonly hash: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };

  /** lookup: what was asked. */
  confirmedWithinMs = Infinity;
  failedEtag = '';
  bodyLimit = 0;
  needsChecksums = false;
  readonly range: RangeRequest = newRangeRequest();
  /** lookup: what it will be answered with, once known. */
  metadata: ObjectMetadata | null = null;
  confirmedAt = 0;
  lifetimeMs = 0;

  /** Bytes [first, last] of one block make the answer's body; the read as a whole goes on to `partLast`. */
  first = 0;
  last = 0;
  partLast = 0;
  readonly version: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
  etag = '';
  size = 0;

  /** The answer's head is out: it can only be completed or aborted. */
  hasBegun = false;
  /** The next byte to send. */
  position = 0;
  /** Only what is held will do. */
  onlyHeld = false;
  /** This node stands in for another one. */
  standsIn = false;
  /** Previous owners were asked in vain: now it is S3's turn. */
  skipsPeers = false;
  /** The fill memory is exhausted: it gets a stream of its own. */
  mustStream = false;

  /**
   * lookup: for metadata. segment: for bytes of a fetch. stream: it gets a fetch's bytes directly. verification: for a stored
   * block to be verified. again: to start over. delivery: to go on where it waited for a verification.
   */
  waitsFor: 'lookup' | 'segment' | 'stream' | 'verification' | 'again' | 'delivery' = 'again';
  /** segment, stream: the fetch. */
  fetchId: FetchId = NO_ID;
  /** verification: the block's slot. */
  slot: SlotId = NO_SLOT;

  list: LinkedList<Reader> | null = null;
  before: Reader | null = null;
  after: Reader | null = null;

  /** Bytes of the answer's body. */
  get length(): number {
    return this.last - this.first + 1;
  }

  /** Makes a pooled record the reader of a new request. */
  begin(id: PoolId, asker: Asker, arrival: number, request: ReadRequest): void {
    this.id = id;
    this.asker = asker;
    this.arrival = arrival;
    this.kind = request.kind;
    this.bucket = request.bucket;
    this.key = request.key;
    copyHash128(request.hash, this.hash);
    this.confirmedWithinMs = request.confirmedWithinMs;
    this.failedEtag = request.failedEtag;
    this.bodyLimit = request.bodyLimit;
    this.needsChecksums = request.needsChecksums;
    this.range.kind = request.rangeKind;
    this.range.first = request.first;
    this.range.last = request.last;
    this.metadata = null;
    this.first = request.first;
    this.last = request.last;
    this.partLast = request.partLast;
    copyHash128(request.version, this.version);
    this.etag = request.etag;
    this.size = request.size;
    this.hasBegun = false;
    this.position = request.first;
    this.onlyHeld = request.onlyHeld;
    this.standsIn = request.standsIn;
    this.skipsPeers = false;
    this.mustStream = false;
    this.waitsFor = 'again';
    this.fetchId = NO_ID;
    this.slot = NO_SLOT;
  }
}

/** The pool of readers, found by asker when one leaves. */
export class Readers {
  readonly #pool: SlotPool<Reader>;
  readonly #byAsker: IdTable<Reader>;

  constructor(maxReaders: number) {
    this.#pool = new SlotPool(maxReaders, () => new Reader());
    this.#byAsker = new IdTable(maxReaders);
  }

  get inUse(): number {
    return this.#pool.inUse;
  }

  /** A reader for a request, null when all are in use. */
  acquire(asker: Asker, arrival: number, request: ReadRequest): Reader | null {
    const id = this.#pool.acquire();
    const reader = this.#pool.get(id);
    if (reader === null) return null;
    reader.begin(id, asker, arrival, request);
    this.#byAsker.set(asker, reader);
    return reader;
  }

  /** The reader that waits for an asker, null when it was answered already. */
  of(asker: Asker): Reader | null {
    return this.#byAsker.get(asker);
  }

  /** Gives back a reader that is in no list any more. */
  release(reader: Reader): void {
    reader.metadata = null;
    this.#byAsker.delete(reader.asker);
    this.#pool.release(reader.id);
  }
}
