/** One read on its way between a gateway and a node: the request, its answer, and the body bytes that have arrived. */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { ExchangeId, ReadId } from '@s3-accelerator/core/gateway/effects.ts';
import type { Asker } from '@s3-accelerator/core/node/effects.ts';
import type { ReadAnswer, ReadRequest } from '@s3-accelerator/core/read.ts';
import { newLane, type Link } from './network.ts';

/** The node's side of a read. */
export interface ReadTaker {
  take(transfer: ReadTransfer): void;
  cancel(transfer: ReadTransfer): void;
}

/** The gateway's side of a read. */
export interface AnswerTaker {
  onAnswer(transfer: ReadTransfer, answer: ReadAnswer): void;
  onBytes(transfer: ReadTransfer, bytes: Uint8Array): void;
  onBreak(transfer: ReadTransfer): void;
}

export class ReadTransfer {
  readonly read: ReadId;
  /** Whom it asks. */
  readonly nodeId: number;
  readonly taker: AnswerTaker;
  /** Null when nobody listens there. */
  readonly node: ReadTaker | null;
  /** True time. */
  readonly sentAt: number;
  readonly request: ReadRequest;
  readonly link: Link;
  readonly toNode = newLane();
  readonly toGateway = newLane();
  /** The ring that the asker places by. */
  readonly ringVersion: number;

  /** The node's side: an answer began, so many body bytes were promised and sent. */
  asker: Asker = -1;
  isAnswered = false;
  promised = 0;
  sent = 0;
  isAborted = false;

  /** The gateway's side. */
  isAnnounced = false;
  /** Body bytes that the announcement promised. */
  bodyLength = 0;
  readonly arrived: Uint8Array[] = [];
  hasBrokenOff = false;
  relayedTo: ExchangeId = -1;
  queuedBytes = 0;
  isOver = false;

  constructor(
    read: ReadId,
    nodeId: number,
    request: ReadRequest,
    link: Link,
    node: ReadTaker | null,
    taker: AnswerTaker,
    sentAt: number,
    ringVersion: number,
  ) {
    this.read = read;
    this.nodeId = nodeId;
    this.node = node;
    this.taker = taker;
    this.sentAt = sentAt;
    this.ringVersion = ringVersion;
    this.link = link;
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
