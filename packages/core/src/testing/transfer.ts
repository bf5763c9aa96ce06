/** One read on its way between whoever asks and a node: the request, its answer, and the body bytes that have arrived. */
import { assert } from '../base/assert.ts';
import type { ExchangeId, ReadId } from '../gateway/effects.ts';
import type { ReadAnswer, ReadRequest } from '../read.ts';

/** Another node that asks: where its answers arrive. */
export interface TransferEvents {
  answerArrives(transfer: Transfer, answer: ReadAnswer): void;
  bytesArrive(transfer: Transfer, bytes: Uint8Array): void;
  breakArrives(transfer: Transfer): void;
}

export class Transfer {
  readonly read: ReadId;
  readonly request: ReadRequest;
  readonly nodeIndex: number;
  /** Null when the gateway asks. */
  readonly askedBy: TransferEvents | null;
  /** Nothing may arrive before this, so that what one side sent in order arrives in order. */
  arrivesAfter = 0;

  /** The node's side: an answer began, so many body bytes were promised and sent. */
  isAnswered = false;
  promised = 0;
  sent = 0;
  isAborted = false;

  /** The side that asks. */
  isAnnounced = false;
  isCancelled = false;
  readonly arrived: Uint8Array[] = [];
  arrivedBytes = 0;
  hasBrokenOff = false;
  relayedTo: ExchangeId | null = null;
  queuedBytes = 0;
  isOver = false;

  constructor(
    read: ReadId,
    request: ReadRequest,
    nodeIndex: number,
    askedBy: TransferEvents | null = null,
  ) {
    this.read = read;
    this.askedBy = askedBy;
    this.nodeIndex = nodeIndex;
    this.request = { ...request, hash: { ...request.hash }, version: { ...request.version } };
  }

  /** The node answers: once. */
  begin(length: number): void {
    assert(!this.isAnswered, 'a read is answered once');
    this.isAnswered = true;
    this.promised = length;
  }

  /** The node sends body bytes, no more than it promised. */
  send(count: number): void {
    assert(this.isAnswered && !this.isAborted, 'bytes belong to an answer that has begun');
    this.sent += count;
    assert(this.sent <= this.promised, 'an answer is no longer than it promised');
  }
}
