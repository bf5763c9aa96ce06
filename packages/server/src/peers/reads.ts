/**
 * The reads that a gateway has under way at nodes, whatever link they use: from `begin` until their last event.
 *
 *     waiting ──▶ asked ──▶ announced ──▶ taken (the whole body is queued)
 *        │          │          ├──▶ relaying ──▶ taken
 *        │          │          ├──▶ reading ──▶ taken
 *        │          │          └──▶ held ──▶ relaying, taken
 *        └──────────┴─ failed, or dropped (cancelled: its answer still comes, and nobody hears of it)
 *
 * | stage | the body | left by |
 * | waiting | | a link sends the request: `asked` |
 * | asked | | the answer arrives: `announce`; the link is lost: `fail` |
 * | announced | stands in the input arena or the link's socket | `relayBody` during the announcement, else the link holds it |
 * | held | was copied, or waits behind a paused link | `relayBody` |
 * | relaying | moves | the relay's end: `finishBody`, `breakBody` |
 * | reading | comes into this process's memory, piece by piece | its end: `finishBody`, `breakBody` |
 *
 * A read's id on the wire is its record's pool id, so that a late answer resolves to nothing. Events that an effect causes
 * are posted and told after it: effects never call the core.
 */
import { IdTable } from '@s3-accelerator/core/base/id-table.ts';
import type { PoolId } from '@s3-accelerator/core/base/slot-pool.ts';
import { NO_ID, SlotPool } from '@s3-accelerator/core/base/slot-pool.ts';
import type { ReadId } from '@s3-accelerator/core/gateway/effects.ts';
import {
  newReadAnswer,
  type ReadAnswer,
  type ReadFailure,
  type ReadRequest,
} from '@s3-accelerator/core/read.ts';
import type { ConnectionId } from '@s3-accelerator/native/reactor.ts';

/** What becomes of reads. Never called during `sendRead`, `cancelRead` or `relayBody`. */
export interface PeerEvents {
  /** The answer, good during the call. With a body, `relayBody` or `cancelRead` must follow, now or later. */
  onAnswer(read: ReadId, answer: ReadAnswer): void;
  /** The whole body is queued on the client's connection. */
  onBodyQueued(read: ReadId): void;
  /** The body broke off after this many bytes were queued. */
  onBodyFailed(read: ReadId, queuedBytes: number): void;
  /** A node's process was heard of: it let a link in, or sent something over one. */
  onNodeReached(nodeId: number): void;
  /** Buckets may point elsewhere now, or be cached otherwise: what nodes told before counts no more. */
  onBucketsChanged(): void;
}

/** The link that a read uses. */
export interface ReadLink {
  /** Sends the announced or held body to the client. */
  relayBody(read: PendingRead, client: ConnectionId): void;
  /** Hands the body that is being announced to the read's `sink`, during this call or as it comes. */
  takeBody(read: PendingRead): void;
  /** Nobody waits for this read any more. */
  drop(read: PendingRead): void;
}

export type ReadStage =
  'waiting' | 'asked' | 'announced' | 'held' | 'relaying' | 'reading' | 'taken' | 'dropped';

/** Takes all of a body's bytes, in pieces that are only valid during the call. */
export type BodySink = (bytes: Uint8Array) => void;

export interface PendingRead {
  id: PoolId;
  read: ReadId;
  stage: ReadStage;
  link: ReadLink | null;
  kind: 'lookup' | 'blocks';
  /** blocks: position of the first byte. */
  first: number;
  /** blocks: the body's length. lookup: the most it may be. */
  bodyLimit: number;
  bodyLength: number;
  /** Parts of the body that were copied because nobody took them at once. */
  readonly held: Uint8Array[];
  /** Where the body goes when this process wants it itself. */
  sink: BodySink | null;
}

interface Posted {
  readonly read: ReadId;
  readonly event: 'failed' | 'queued' | 'broken';
  readonly failure: ReadFailure;
  cancelled: boolean;
}

export class Reads {
  readonly #events: PeerEvents;
  readonly #pool: SlotPool<PendingRead>;
  readonly #byRead: IdTable<PendingRead>;
  /** Every record the pool ever made, for the rare walk over all of them. */
  readonly #records: PendingRead[] = [];
  readonly #failure = newReadAnswer();
  #posted: Posted[] = [];
  #telling: readonly Posted[] = [];

  constructor(events: PeerEvents, maxReads: number) {
    this.#events = events;
    this.#byRead = new IdTable(maxReads);
    this.#pool = new SlotPool(maxReads, () => {
      const record = newPendingRead();
      this.#records.push(record);
      return record;
    });
  }

  /** Reads that occupy a record, dropped ones included. */
  get underWay(): number {
    return this.#pool.inUse;
  }

  /** How often a read was refused because there were too many. */
  get refused(): number {
    return this.#pool.refused;
  }

  /** Takes a record for a read; null, and a posted `busy`, when there are too many. */
  begin(read: ReadId, request: ReadRequest): PendingRead | null {
    const id = this.#pool.acquire();
    if (id === NO_ID) {
      this.#post(read, 'failed', 'busy');
      return null;
    }
    const pending = this.#pool.get(id)!;
    const isBlocks = request.kind === 'blocks';
    pending.id = id;
    pending.read = read;
    pending.stage = 'waiting';
    pending.kind = request.kind;
    pending.first = isBlocks ? request.first : 0;
    pending.bodyLimit = isBlocks ? request.last - request.first + 1 : request.bodyLimit;
    pending.bodyLength = 0;
    this.#byRead.set(read, pending);
    return pending;
  }

  /** The read that a request id on the wire names; null when it is over. */
  get(id: PoolId): PendingRead | null {
    return this.#pool.get(id);
  }

  /** The read that the core names; null when it is over or cancelled. */
  find(read: ReadId): PendingRead | null {
    return this.#byRead.get(read);
  }

  /** True when a read may have this answer: an answer to something else means that the node is confused. */
  fits(pending: PendingRead, answer: ReadAnswer): boolean {
    switch (answer.kind) {
      case 'failure':
        return true;
      case 'bytes':
        return pending.kind === 'blocks' && answer.bodyLength === pending.bodyLimit;
      case 'metadata':
        return pending.kind === 'lookup' && answer.bodyLength <= pending.bodyLimit;
    }
  }

  /** Tells the core an answer that has a body. What the core did is in the read's stage. */
  announce(pending: PendingRead, answer: ReadAnswer): void {
    pending.stage = 'announced';
    pending.bodyLength = answer.bodyLength;
    if (answer.kind === 'bytes') answer.bodyFirst = pending.first;
    this.#events.onAnswer(pending.read, answer);
  }

  /** Tells the core an answer that has no body, and forgets the read. */
  finish(pending: PendingRead, answer: ReadAnswer): void {
    const { read } = pending;
    this.release(pending);
    this.#events.onAnswer(read, answer);
  }

  /** Tells the core that there is no answer, and forgets the read. */
  fail(pending: PendingRead, failure: ReadFailure): void {
    this.finish(pending, this.#failed(failure));
  }

  /** The same after the current effect. */
  failLater(pending: PendingRead, failure: ReadFailure): void {
    const { read } = pending;
    this.release(pending);
    this.#post(read, 'failed', failure);
  }

  /** The body is queued to its last byte. */
  finishBody(pending: PendingRead): void {
    const { read } = pending;
    this.release(pending);
    this.#events.onBodyQueued(read);
  }

  /** The whole body was copied: it needs its link no more. */
  hold(pending: PendingRead): void {
    pending.stage = 'held';
    pending.link = null;
  }

  finishBodyLater(pending: PendingRead): void {
    const { read } = pending;
    this.release(pending);
    this.#post(read, 'queued', 'peer');
  }

  /** The body broke off. */
  breakBody(pending: PendingRead, queuedBytes: number): void {
    const { read } = pending;
    this.release(pending);
    this.#events.onBodyFailed(read, queuedBytes);
  }

  /** The same after the current effect, with nothing queued. */
  breakBodyLater(pending: PendingRead): void {
    const { read } = pending;
    this.release(pending);
    this.#post(read, 'broken', 'peer');
  }

  /** Ends a read that nobody hears of again. */
  release(pending: PendingRead): void {
    if (pending.stage !== 'dropped') this.#byRead.delete(pending.read);
    pending.stage = 'dropped';
    pending.link = null;
    pending.sink = null;
    if (pending.held.length > 0) pending.held.length = 0;
    this.#pool.release(pending.id);
  }

  /** From now on the core may use the read's id for another; the record stays until its answer came. */
  forget(pending: PendingRead): void {
    if (pending.stage !== 'dropped') this.#byRead.delete(pending.read);
    pending.stage = 'dropped';
    if (pending.held.length > 0) pending.held.length = 0;
  }

  /** Withdraws posted events of a read. */
  withdraw(read: ReadId): void {
    for (const posted of this.#posted) if (posted.read === read) posted.cancelled = true;
    for (const posted of this.#telling) if (posted.read === read) posted.cancelled = true;
  }

  /** Whether any read uses a link; a walk over all of them. */
  uses(link: ReadLink): boolean {
    return this.#records.some((record) => record.link === link);
  }

  /** Calls `visit` with every read that uses a link. The visitor may end reads and begin others. */
  visit(link: ReadLink, visit: (pending: PendingRead) => void): void {
    for (const record of this.#records) if (record.link === link) visit(record);
  }

  #failed(failure: ReadFailure): ReadAnswer {
    const answer = this.#failure;
    answer.kind = 'failure';
    answer.failure = failure;
    answer.metadata = null;
    answer.error = null;
    answer.bodyLength = 0;
    return answer;
  }

  #post(read: ReadId, event: Posted['event'], failure: ReadFailure): void {
    this.#posted.push({ read, event, failure, cancelled: false });
    if (this.#posted.length === 1) {
      queueMicrotask(() => {
        this.#tell();
      });
    }
  }

  #tell(): void {
    // What is told may post more: that comes in a later turn, behind this list.
    this.#telling = this.#posted;
    this.#posted = [];
    for (const posted of this.#telling) {
      if (!posted.cancelled) this.#tellOne(posted);
    }
    this.#telling = [];
  }

  #tellOne({ read, event, failure }: Posted): void {
    switch (event) {
      case 'queued':
        this.#events.onBodyQueued(read);
        break;
      case 'broken':
        this.#events.onBodyFailed(read, 0);
        break;
      case 'failed':
        this.#events.onAnswer(read, this.#failed(failure));
        break;
    }
  }
}

function newPendingRead(): PendingRead {
  return {
    id: NO_ID,
    read: 0,
    stage: 'dropped',
    link: null,
    kind: 'blocks',
    first: 0,
    bodyLimit: 0,
    bodyLength: 0,
    held: [],
    sink: null,
  };
}
