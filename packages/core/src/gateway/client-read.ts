/**
 * One client's GET or HEAD on its way through the gateway, and the reads of nodes that are out for it.
 *
 * ```
 * onRequest ─► lookup ─────────► pieces ─► finished
 *     │          ▲ │ changed      ▲ │
 *     └──────────┼─┼──────────────┘ │
 *                └─┴────────────────┘ changed, before the head went out
 * ```
 * While it looks up, one read is out, at the home. Then the range is cut into pieces, each within one block, asked for from
 * their owners ahead of what the client has taken, and relayed strictly in order:
 *
 * | piece    | waits for                   | then                                                  |
 * | asked    | onAnswer                    | its turn: head once, relay; else held                 |
 * | held     | the pieces before it        | relay                                                 |
 * | relaying | onBodyQueued                | the next piece's turn; the last one: finish           |
 * |          | onBodyFailed                | its rest is asked for elsewhere                       |
 *
 * Positions: takenTo ≤ position ≤ askedTo. Up to `takenTo` the client's kernel has the bytes, up to `position` they are
 * queued, up to `askedTo` they are asked for; pieces cover [position, askedTo) without gaps.
 *
 * Invariants: a lookup and pieces are never out together. Only the first piece is relayed. Once the head was sent, every
 * piece is asked for by the version and ETag that the head named.
 */
import { copyHash128 } from '../base/hash.ts';
import { LinkedList, type Linked } from '../base/linked-list.ts';
import { newReadRequest, type ObjectMetadata, type ReadRequest } from '../read.ts';
import { newResolvedRange, type ResolvedRange } from '../s3/byte-range.ts';
import { newClientRequest, type ClientRequest } from './client-request.ts';
import type { ExchangeId, ReadId } from './effects.ts';
import type { CachedMetadata } from './metadata-cache.ts';

export class ClientRead {
  exchange: ExchangeId = -1;
  /** This record's own id in the gateway's pool. */
  id = -1;
  readonly asked: ClientRequest = newClientRequest();

  /** The version that is served, null until it is known. */
  metadata: ObjectMetadata | null = null;
  /** The same with since when it is known. */
  known: CachedMetadata | null = null;
  readonly range: ResolvedRange = newResolvedRange();
  headSent = false;

  /** The lookup that is out, null for none. */
  lookup: OutstandingRead | null = null;
  /** In the order of their bytes. */
  readonly pieces = new LinkedList<OutstandingRead>();
  position = 0;
  askedTo = 0;
  takenTo = 0;
  /** What `takenTo` will be once the client's kernel has taken what was queued; -1 while nobody waits for that. */
  takingTo = -1;
  /** Bytes that may be asked for ahead of `takenTo`: a block at first, more as the client keeps up. */
  windowBytes = 0;

  /** Metadata from this lookup is newer than this moment. */
  demandedAt = -Infinity;
  /** How often the object changed under this read. */
  restarts = 0;
  /** The ETag that was found to be gone, '' when none. */
  failedEtag = '';

  /** Makes a pooled record the read of a new request. */
  begin(id: number, exchange: ExchangeId, request: ClientRequest): void {
    this.id = id;
    this.exchange = exchange;
    const { asked } = this;
    asked.head = request.head;
    asked.bucket = request.bucket;
    asked.key = request.key;
    copyHash128(request.hash, asked.hash);
    asked.range.kind = request.range.kind;
    asked.range.first = request.range.first;
    asked.range.last = request.range.last;
    asked.wantsChecksums = request.wantsChecksums;
    asked.conditions = request.conditions;
    this.metadata = null;
    this.known = null;
    this.headSent = false;
    this.position = 0;
    this.askedTo = 0;
    this.takenTo = 0;
    this.takingTo = -1;
    this.demandedAt = -Infinity;
    this.restarts = 0;
    this.failedEtag = '';
  }
}

export type ReadStage = 'asked' | 'held' | 'relaying';

/** Nodes that were asked before: of most reads none. */
export const nobody: readonly number[] = [];

/** A read that is out: pooled, so that its id is never mistaken for an earlier one's. A piece is linked in its client's. */
export class OutstandingRead implements Linked<OutstandingRead> {
  id: ReadId = -1;
  client: ClientRead | null = null;
  readonly request: ReadRequest = newReadRequest();
  readonly wait = new Wait(this);
  stage: ReadStage = 'asked';
  /** Asked for while another read of the same client was out. */
  isAhead = false;
  /** It counts as load of its node until it is answered. */
  isCounted = false;
  /** The node that was asked, and those that were asked for the same before it. */
  nodeId = -1;
  tried: readonly number[] = nobody;
  askedAt = 0;
  /** The bytes of the body that are still to be queued. */
  first = 0;
  last = -1;

  list: LinkedList<OutstandingRead> | null = null;
  before: OutstandingRead | null = null;
  after: OutstandingRead | null = null;
}

/** A read's place among those that wait for an answer, in the order of their deadlines. */
export class Wait implements Linked<Wait> {
  readonly read: OutstandingRead;
  deadline = Infinity;
  list: LinkedList<Wait> | null = null;
  before: Wait | null = null;
  after: Wait | null = null;

  constructor(read: OutstandingRead) {
    this.read = read;
  }
}
