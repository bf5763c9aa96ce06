/** Clients' reads at one gateway: from the request to the end of its answer, with all that the client sees of it. */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { ExchangeId, GatewayEffects } from '@s3-accelerator/core/gateway/effects.ts';
import type { ObjectMetadata, OriginError } from '@s3-accelerator/core/read.ts';
import { s3Errors, type ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import type { AnswerEnd, ClientAnswer } from '../history/client-answer.ts';
import { requestOfError } from './origin.ts';
import type { Surroundings } from './surroundings.ts';

type ClientEffects = Pick<
  GatewayEffects,
  | 'answerHead'
  | 'awaitTaken'
  | 'finish'
  | 'abort'
  | 'answerError'
  | 'answerOriginError'
  | 'passThrough'
>;

/** One read of a client. */
export interface Exchange {
  readonly id: ExchangeId;
  readonly record: ClientAnswer;
  /** The client doesn't read for so many milliseconds, the first time that it should. */
  readonly stallMs: number;
  readonly onEnd: () => void;
  /** Its way through to S3, once it is on it. */
  pass: { clientGone(): void } | null;
  hasStalled: boolean;
}

export interface ExchangesOptions {
  readonly world: Surroundings;
  /** What a client's kernel takes to accept what was sent. */
  readonly clientDelayMs: () => number;
  /** The client has taken all that was sent to it. */
  readonly onTaken: (exchange: ExchangeId) => void;
  /** The core gives the exchange away: it is to go to S3 as it is. */
  readonly onPass: (exchange: Exchange) => void;
}

export class Exchanges implements ClientEffects {
  readonly #options: ExchangesOptions;
  readonly #open = new Map<ExchangeId, Exchange>();
  #count = 0;

  constructor(options: ExchangesOptions) {
    this.#options = options;
  }

  /** Reads that aren't answered. */
  get size(): number {
    return this.#open.size;
  }

  begin(record: ClientAnswer, stallMs: number, onEnd: () => void): Exchange {
    this.#count += 1;
    const id = this.#count;
    const exchange: Exchange = { id, record, stallMs, onEnd, pass: null, hasStalled: false };
    this.#open.set(id, exchange);
    return exchange;
  }

  isOpen({ id }: Exchange): boolean {
    return this.#open.has(id);
  }

  end(exchange: Exchange, end: AnswerEnd): void {
    const { record } = exchange;
    const { world } = this.#options;
    this.#open.delete(exchange.id);
    record.end = end;
    record.endedAt = world.queue.now;
    world.checkers.answerEnded(record);
    exchange.onEnd();
  }

  /** The process is over: clients find their connections broken. */
  stop(): void {
    for (const exchange of [...this.#open.values()]) this.end(exchange, 'cut');
  }

  /** Body bytes reach the client. */
  bytesCame(id: ExchangeId, bytes: Uint8Array): void {
    const { record } = this.#get(id);
    assert(record.received + bytes.length <= record.length, 'no more than the head promised');
    this.#options.world.history.bytesCame(record, bytes);
  }

  answerHead(
    id: ExchangeId,
    status: 200 | 206 | 304,
    metadata: ObjectMetadata,
    first: number,
    length: number,
  ): void {
    const { record } = this.#unanswered(id);
    record.status = status;
    record.answeredAt = this.#options.world.queue.now;
    record.etag = metadata.etag;
    record.lastModified = metadata.lastModified;
    record.size = metadata.size;
    record.first = first;
    record.length = length;
  }

  awaitTaken(id: ExchangeId): void {
    const exchange = this.#get(id);
    const { world, clientDelayMs, onTaken } = this.#options;
    const stall = exchange.hasStalled ? 0 : exchange.stallMs;
    exchange.hasStalled = true;
    world.queue.in(clientDelayMs() + stall, () => {
      if (this.#open.has(id)) onTaken(id);
    });
  }

  finish(id: ExchangeId): void {
    const exchange = this.#get(id);
    const { status, request, received, length } = exchange.record;
    const hasBody = status !== 304 && !request.head;
    assert(!hasBody || received === length, 'a finished answer is whole');
    this.end(exchange, 'finished');
  }

  abort(id: ExchangeId): void {
    const exchange = this.#get(id);
    assert(exchange.record.status !== 0, 'only a begun answer is aborted');
    this.end(exchange, 'cut');
  }

  answerError(id: ExchangeId, code: ErrorCode, metadata: ObjectMetadata | null): void {
    const exchange = this.#unanswered(id);
    if (metadata !== null) exchange.record.size = metadata.size;
    this.refuse(exchange, code);
  }

  answerOriginError(id: ExchangeId, error: OriginError): void {
    const exchange = this.#unanswered(id);
    const { record } = exchange;
    record.status = error.status;
    record.code = error.code;
    record.errorOf = requestOfError(error);
    record.answeredAt = this.#options.world.queue.now;
    this.end(exchange, 'finished');
  }

  passThrough(id: ExchangeId): void {
    this.#options.onPass(this.#unanswered(id));
  }

  /** Answers with one of S3's errors, nothing sent before. */
  refuse(exchange: Exchange, code: ErrorCode): void {
    const { record } = exchange;
    record.status = s3Errors[code].status;
    record.code = code;
    record.answeredAt = this.#options.world.queue.now;
    this.end(exchange, 'finished');
  }

  #get(id: ExchangeId): Exchange {
    const exchange = this.#open.get(id);
    assert(exchange !== undefined, 'effects are for open exchanges');
    return exchange;
  }

  #unanswered(id: ExchangeId): Exchange {
    const exchange = this.#get(id);
    assert(exchange.record.status === 0, 'nothing was sent before');
    return exchange;
  }
}
