/**
 * One client's GET or HEAD on its way through the gateway: the record that the stages in gateway.ts move along.
 *
 * ```
 * onRequest ─► lookup ──────► relaying ─► untaken ─┐
 *     │          ▲ │             ▲           │     │
 *     │  changed │ ▼             │           ▼     │
 *     └────────► piece ──────────┘ ◄───── piece    └─► finished
 * ```
 * | stage    | waits for     | then                                                        |
 * | lookup   | onAnswer      | metadata: plan; a body at the right place is the first piece |
 * | piece    | onAnswer      | bytes: head once, then relay                                |
 * | relaying | onBodyQueued  | last piece: finish; else wait until the client took it      |
 * | untaken  | onTaken       | ask for the next piece                                      |
 *
 * Invariants: at most one read is out for a client read, and only in the stages lookup, piece and relaying. Once the head
 * was sent, every piece is asked for by the version and ETag that the head named.
 */
import { copyHash128 } from '../base/hash.ts';
import type { LinkedList, Linked } from '../base/linked-list.ts';
import { newReadRequest, type ObjectMetadata, type ReadRequest } from '../read.ts';
import { newResolvedRange, type ResolvedRange } from '../s3/byte-range.ts';
import { newClientRequest, type ClientRequest } from './client-request.ts';
import type { ExchangeId, ReadId } from './effects.ts';

export type Stage = 'lookup' | 'piece' | 'relaying' | 'untaken';

/** No read is out. */
export const noRead: ReadId = -1;

/** Linked while its read waits for an answer, in the order of the deadlines. */
export class ClientRead implements Linked<ClientRead> {
  exchange: ExchangeId = -1;
  /** This record's own id in the gateway's pool. */
  id = -1;
  stage: Stage = 'lookup';
  readonly asked: ClientRequest = newClientRequest();

  /** The version that is served, null until it is known. */
  metadata: ObjectMetadata | null = null;
  readonly range: ResolvedRange = newResolvedRange();
  /** The next byte that isn't queued for the client yet. */
  position = 0;
  headSent = false;
  /** Position after the piece that is being relayed. */
  pieceEnd = 0;

  /** The read that is out, `noRead` when none. */
  read: ReadId = noRead;
  askedAt = 0;
  deadline = Infinity;
  /** Metadata from this lookup is newer than this moment. */
  demandedAt = -Infinity;
  /** The read at hand already went to a second node. */
  isRetry = false;
  /** How often the object changed under this read. */
  restarts = 0;
  /** The ETag that was found to be gone, '' when none. */
  failedEtag = '';

  list: LinkedList<ClientRead> | null = null;
  before: ClientRead | null = null;
  after: ClientRead | null = null;

  /** Makes a pooled record the read of a new request. */
  begin(id: number, exchange: ExchangeId, request: ClientRequest): void {
    this.id = id;
    this.exchange = exchange;
    this.stage = 'lookup';
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
    this.position = 0;
    this.headSent = false;
    this.read = noRead;
    this.demandedAt = -Infinity;
    this.isRetry = false;
    this.restarts = 0;
    this.failedEtag = '';
  }
}

/** A read that is out: pooled, so that its id is never mistaken for an earlier one's. */
export interface OutstandingRead {
  client: ClientRead | null;
  readonly request: ReadRequest;
}

export function newOutstandingRead(): OutstandingRead {
  return {
    client: null,
    request: newReadRequest(),
  };
}
