/**
 * The reads that came over a node's links: hands them to the node, and sends its answers.
 *
 * The answer methods mirror the node's effects: they return nothing and never call back. A read that was cancelled, or whose
 * link is gone, is answered into the void; only its `onSent` still comes, later. On multiplexed links answers are only
 * ever whole; on exclusive links the head goes first.
 *
 * Every read gets exactly one answer, a cancelled one a failure: askers count on it.
 *
 * A hit's answer allocates nothing: what the file and its range are comes one by one, and a `Confirmation` is used again.
 */
import { constants } from 'node:os';
import type { Asker } from '@s3-accelerator/core/node/effects.ts';
import type { NodeMessage } from '@s3-accelerator/core/node-message.ts';
import type {
  BodySource,
  HotHint,
  OriginError,
  ReadFailure,
  ReadRequest,
} from '@s3-accelerator/core/read.ts';
import { Arena, CommandFlag } from '@s3-accelerator/native/native.ts';
import {
  bytesAnswerBound,
  encodeBytesAnswer,
  encodeFailureAnswer,
  encodeMetadataAnswer,
  failureAnswerBound,
  metadataAnswerBound,
} from '@s3-accelerator/protocol/read-answer.ts';
import type { Confirmation } from '../node/answers.ts';
import type { AskerRecord } from './askers.ts';
import { Askers } from './askers.ts';
import type { LinkContext } from './link-context.ts';
import type { LinkServerOptions } from './link-options.ts';
import type { Link } from './link.ts';
import type { ReadAnswerer, ReadAnswererOwner } from './read-answerer.ts';

/** What comes over the links. Never called during an answer method. */
export interface NodeReads {
  /** A read wants an answer. The request is good during the call. */
  onRead(asker: Asker, request: ReadRequest): void;
  /** Nobody waits for this read any more: the asker's id is dead. */
  onReadCancelled(asker: Asker): void;
  /** Another node tells something, good during the call. */
  onMessage(message: NodeMessage): void;
  /** The kernel took a body out of a file, or won't any more (errno). Once for every send. */
  onSent(token: number, errno: number): void;
}

export class ServedReads implements ReadAnswererOwner {
  readonly #context: LinkContext;
  readonly #reads: NodeReads;
  readonly #lendsPages: boolean;
  readonly #askers: Askers;
  /** Sends to askers that are gone, to be told after the current effect. */
  #unsent: number[] = [];

  constructor(context: LinkContext, reads: NodeReads, options: LinkServerOptions) {
    this.#context = context;
    this.#reads = reads;
    this.#lendsPages = options.lendPages;
    this.#askers = new Askers(options.maxReads);
  }

  get underWay(): number {
    return this.#askers.underWay;
  }

  /** Reads that were answered busy because there were too many. */
  get refused(): number {
    return this.#askers.refused;
  }

  // — answers

  /** Answers a lookup, without a body. */
  answerMetadata(asker: Asker, confirmed: Confirmation): void {
    const record = this.#take(asker);
    if (record === null) return;
    this.#sendMetadata(record, confirmed, 0, 0, 'slot');
    this.#askers.release(record);
  }

  /** Answers a lookup with bytes of the object from `bodyFirst`, out of a file. `onSent` with the token follows. */
  answerMetadataFromFile(
    asker: Asker,
    confirmed: Confirmation,
    bodyFirst: number,
    descriptor: number,
    fileOffset: number,
    length: number,
    token: number,
  ): void {
    const record = this.#takeForFile(asker, token);
    if (record === null) return;
    const at = this.#context.reactor.reserve(
      metadataAnswerBound(confirmed.metadata, confirmed.hot),
    );
    const head = this.#encodeMetadata(at, record, confirmed, bodyFirst, length, 'slot');
    this.#sendFile(record, at, head, descriptor, fileOffset, length);
  }

  /** Answers a lookup with bytes of the object from `bodyFirst`, which are copied during the call. */
  answerMetadataFromMemory(
    asker: Asker,
    confirmed: Confirmation,
    bodyFirst: number,
    bytes: Uint8Array,
    source: BodySource = 'fetched',
  ): void {
    const record = this.#take(asker);
    if (record === null) return;
    this.#sendMetadata(record, confirmed, bodyFirst, bytes.length, source);
    record.link?.sendBytes(bytes);
    this.#askers.release(record);
  }

  /** Answers a blocks read with a file's range. `onSent` with the token follows. */
  answerBytesFromFile(
    asker: Asker,
    descriptor: number,
    fileOffset: number,
    length: number,
    token: number,
    hot: HotHint | null = null,
  ): void {
    const record = this.#takeForFile(asker, token);
    if (record === null) return;
    const { reactor, ring } = this.#context;
    const { requestId } = record;
    const at = reactor.reserve(bytesAnswerBound(hot));
    const head = encodeBytesAnswer(reactor.output, at, requestId, length, ring.mark, hot) - at;
    this.#sendFile(record, at, head, descriptor, fileOffset, length);
  }

  /** Begins the answer of a blocks read whose `length` bytes come by `continueAnswer`. */
  beginAnswer(asker: Asker, length: number, source: BodySource = 'fetched'): void {
    const record = this.#askers.get(asker);
    if (record === null) return;
    record.stage = 'answering';
    record.missing = length;
    if (record.exclusive) {
      this.#sendBytesHead(record, length, source);
    } else {
      record.whole = new Uint8Array(bytesAnswerBound() + length);
      const { mark } = this.#context.ring;
      const { requestId, whole } = record;
      record.wholeLength = encodeBytesAnswer(whole, 0, requestId, length, mark, null, source);
    }
  }

  /**
   * Sends the next bytes of an answer that has begun, copied during the call; the last ones end it. What the asker hasn't taken
   * waits here: a body is a block at most.
   */
  continueAnswer(asker: Asker, bytes: Uint8Array): void {
    const record = this.#askers.get(asker);
    if (record === null) return;
    record.missing -= bytes.length;
    if (record.whole !== null) {
      record.whole.set(bytes, record.wholeLength);
      record.wholeLength += bytes.length;
      if (record.missing === 0) record.link?.sendBytes(record.whole);
    } else {
      record.link?.sendBytes(bytes);
    }
    if (record.missing === 0) this.#askers.release(record);
  }

  /** An answer that had begun can't be completed. */
  abortAnswer(asker: Asker): void {
    const record = this.#askers.get(asker);
    if (record === null) return;
    const { link } = record;
    if (record.exclusive && record.stage === 'answering') {
      // Half a body is on the link: nothing else can tell the asker that the rest won't come.
      this.#askers.release(record);
      link?.lose();
    } else {
      this.answerFailure(asker, 'peer', null);
    }
  }

  /** Answers that there are no bytes, and why. */
  answerFailure(asker: Asker, failure: ReadFailure, error: OriginError | null): void {
    const record = this.#take(asker);
    if (record?.link == null) return;
    this.#sendFailure(record.link, record.requestId, failure, error);
    this.#askers.release(record);
  }

  // — what the links say

  onRequest(answerer: ReadAnswerer, requestId: number, request: ReadRequest): void {
    const { link, unanswered, exclusive } = answerer;
    const record = this.#askers.begin(link, unanswered, requestId, exclusive);
    if (record === null) this.#sendFailure(link, requestId, 'busy', null);
    else this.#reads.onRead(record.id, request);
  }

  onMessage(message: NodeMessage): void {
    this.#reads.onMessage(message);
  }

  onCancelled(record: AskerRecord): void {
    const { id, link, exclusive, stage, requestId } = record;
    if (exclusive && stage === 'answering' && link !== null && !link.lost) {
      // Its body has begun, so the asker gets the rest of it.
      return;
    }
    this.#askers.release(record);
    if (link !== null && !link.lost) this.#sendFailure(link, requestId, 'peer', null);
    this.#reads.onReadCancelled(id);
  }

  onSent(link: Link, token: number, errno: number): void {
    const record = this.#askers.get(token - 1);
    if (record === null) return;
    const { sentToken, requestId, copied } = record;
    this.#askers.release(record);
    if (errno !== 0 && !link.lost) {
      if (copied) this.#sendFailure(link, requestId, 'peer', null);
      else link.lose();
    }
    this.#reads.onSent(sentToken, errno);
  }

  // — sending

  /** The record of a read whose answer leaves now. */
  #take(asker: Asker): AskerRecord | null {
    const record = this.#askers.get(asker);
    if (record !== null) this.#askers.answered(record);
    return record;
  }

  /** The same for a body out of a file; the send of a read that is gone is told later. */
  #takeForFile(asker: Asker, token: number): AskerRecord | null {
    const record = this.#take(asker);
    if (record !== null) {
      record.stage = 'sending';
      record.sentToken = token;
      return record;
    }
    this.#unsent.push(token);
    if (this.#unsent.length === 1) queueMicrotask(() => this.#tellUnsent());
    return null;
  }

  #tellUnsent(): void {
    const tokens = this.#unsent;
    this.#unsent = [];
    for (const token of tokens) this.#reads.onSent(token, constants.errno.ECANCELED);
  }

  #sendFile(
    record: AskerRecord,
    at: number,
    headLength: number,
    descriptor: number,
    fileOffset: number,
    length: number,
  ): void {
    const { reactor } = this.#context;
    const { link, exclusive, id } = record;
    if (link === null) return;
    const lent = exclusive && this.#lendsPages;
    record.copied = !lent;
    const flags = lent ? 0 : CommandFlag.copy | CommandFlag.deferrable;
    reactor.commit(headLength);
    reactor.sendFile(link.id, at, headLength, descriptor, fileOffset, length, id + 1, flags);
  }

  #sendMetadata(
    record: AskerRecord,
    confirmed: Confirmation,
    bodyFirst: number,
    bodyLength: number,
    source: BodySource,
  ): void {
    const { reactor } = this.#context;
    const { link } = record;
    if (link === null) return;
    const at = reactor.reserve(metadataAnswerBound(confirmed.metadata, confirmed.hot));
    const head = this.#encodeMetadata(at, record, confirmed, bodyFirst, bodyLength, source);
    reactor.commit(head);
    reactor.write(link.id, Arena.output, at, head);
  }

  /** Writes the head of a lookup's answer to the output arena, where room for it is reserved; returns its length. */
  #encodeMetadata(
    at: number,
    { requestId }: AskerRecord,
    { metadata, ageMs, lifetimeMs, hot }: Confirmation,
    bodyFirst: number,
    bodyLength: number,
    source: BodySource,
  ): number {
    const { reactor, ring } = this.#context;
    const { output } = reactor;
    const end = encodeMetadataAnswer(
      output,
      at,
      requestId,
      metadata,
      ageMs,
      lifetimeMs,
      bodyFirst,
      bodyLength,
      ring.mark,
      hot,
      source,
    );
    return end - at;
  }

  #sendBytesHead(record: AskerRecord, length: number, source: BodySource): void {
    const { reactor } = this.#context;
    const { link, requestId } = record;
    if (link === null) return;
    const at = reactor.reserve(bytesAnswerBound());
    const { mark } = this.#context.ring;
    const { output } = reactor;
    const head = encodeBytesAnswer(output, at, requestId, length, mark, null, source) - at;
    reactor.commit(head);
    reactor.write(link.id, Arena.output, at, head);
  }

  #sendFailure(
    link: Link,
    requestId: number,
    failure: ReadFailure,
    error: OriginError | null,
  ): void {
    const { reactor, ring } = this.#context;
    const at = reactor.reserve(failureAnswerBound(error));
    const end = encodeFailureAnswer(reactor.output, at, requestId, failure, error, ring.mark);
    reactor.commit(end - at);
    reactor.write(link.id, Arena.output, at, end - at);
  }
}
