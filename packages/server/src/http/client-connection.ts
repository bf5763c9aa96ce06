/**
 * The state of one client connection. The server (http-server.ts) moves it; this file says what there is.
 *
 *     idle ──head──▶ exchange ──finish──▶ idle
 *                       │ finish, body unread but short ──▶ draining ──body's end──▶ idle
 *                       │ finish, connection to close ──▶ lingering ──client's end, time──▶ closed
 *                       └ abort, client gone ──▶ closed
 *
 * Records are pooled; a connection that isn't in the middle of anything holds no memory but its record (about 0.3 KiB).
 */
import type { ConnectionId, ConnectionOwner } from '@s3-accelerator/native/reactor.ts';
import { ChunkedBody } from './chunked-body.ts';
import type { ExchangeId } from './exchange.ts';
import type { BodyFraming } from './request-head.ts';
import { newHeadProgress } from './request-parser.ts';

/** What the server does when something happens on a connection. */
export interface ConnectionEvents {
  received(connection: ClientConnection, start: number, length: number): void;
  ended(connection: ClientConnection): void;
  closed(connection: ClientConnection): void;
  sent(connection: ClientConnection, token: number, errno: number): void;
}

export type ConnectionStage = 'idle' | 'exchange' | 'draining' | 'lingering' | 'closed';

/** How far the body of the current request is. */
export type BodyStage =
  /** Nobody asked for it yet. */
  | 'waiting'
  | 'reading'
  /** Its reader wants no more for now. */
  | 'paused'
  /** Its last byte was read, or it has none. */
  | 'complete';

/** How far the answer is. */
export type AnswerStage = 'none' | 'begun' | 'finished';

export class ClientConnection implements ConnectionOwner {
  readonly slot: number;
  id = 0 as ConnectionId;
  stage: ConnectionStage = 'closed';
  generation = 0;
  /** The current or latest exchange. */
  exchange = 0 as ExchangeId;
  /** Number of its request, see request-ids.ts. */
  request = 0;

  readonly progress = newHeadProgress();
  /** When the first byte of an incomplete head came; 0 when there is none. */
  headSince = 0;

  body: BodyStage = 'complete';
  framing: BodyFraming = 'none';
  /** Bytes of a body with a length that are still to come. */
  bodyLeft = 0;
  readonly chunks = new ChunkedBody();
  /** The client waits for 100 Continue before it sends the body. */
  expectsContinue = false;

  answer: AnswerStage = 'none';
  answerIsChunked = false;
  isHead = false;
  http10 = false;
  keepAlive = true;

  /** Bytes that came before their time; null when there are none. */
  pending: Buffer | null = null;
  pendingLength = 0;

  /** The reactor was told to receive no more. */
  receiveIsPaused = false;
  /** The client sent its FIN. */
  ended = false;
  endedAt = 0;
  /** Bytes are being worked off right now: state changes are picked up by that loop. */
  feeding = false;
  /** It waits in the server's list of connections to go on with. */
  isQueued = false;
  /** The reactor's deadline as last set; 0 when it is off because the client waits for us. */
  deadlineMs = 0;
  /** Sweeps that the exchange has been waiting for its answer. */
  sweepsWaited = 0;
  lingerUntil = 0;
  lingerBytes = 0;

  readonly #events: ConnectionEvents;

  constructor(slot: number, events: ConnectionEvents) {
    this.slot = slot;
    this.#events = events;
  }

  /** Makes the record ready for a new connection. */
  open(id: ConnectionId): void {
    this.id = id;
    this.stage = 'idle';
    this.body = 'complete';
    this.answer = 'finished';
    this.resetHead();
    this.pending = null;
    this.pendingLength = 0;
    this.receiveIsPaused = false;
    this.ended = false;
    this.deadlineMs = 0;
    this.keepAlive = true;
  }

  resetHead(): void {
    this.progress.scanned = 0;
    this.progress.limit = Number.MAX_SAFE_INTEGER;
    this.headSince = 0;
  }

  /** An exchange is open: its answer isn't finished, and nobody broke off. */
  get isAnswering(): boolean {
    return this.stage === 'exchange' && this.answer !== 'finished';
  }

  /** Keeps bytes for later, behind those already kept. */
  keep(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    const needed = this.pendingLength + length;
    if (this.pending === null || this.pending.length < needed) {
      const grown = Buffer.from(new ArrayBuffer(Math.max(1024, needed * 2)));
      if (this.pending !== null) grown.set(this.pending.subarray(0, this.pendingLength));
      this.pending = grown;
    }
    this.pending.set(bytes.subarray(start, end), this.pendingLength);
    this.pendingLength = needed;
  }

  /** Drops the first bytes of those kept. */
  drop(length: number): void {
    if (length === this.pendingLength) {
      this.pending = null;
      this.pendingLength = 0;
    } else if (length > 0) {
      this.pending!.copyWithin(0, length, this.pendingLength);
      this.pendingLength -= length;
    }
  }

  onReceived(_id: ConnectionId, start: number, length: number): void {
    this.#events.received(this, start, length);
  }

  onEnded(): void {
    this.#events.ended(this);
  }

  onClosed(): void {
    this.#events.closed(this);
  }

  onSent(_id: ConnectionId, token: number, errno: number): void {
    this.#events.sent(this, token, errno);
  }

  onConnected(): void {
    // Only connections that we make have this.
  }

  onRelayed(): void {
    // Bodies of requests are checked in TypeScript, so nothing is ever relayed from a client.
  }
}
