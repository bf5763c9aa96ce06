/**
 * Everything that the cache doesn't answer: requests that go through to the origin, uncached, streamed both ways.
 *
 * Whoever owns the HTTP handler hands over authorised exchanges with `start` and passes on what happens to them. Memory for
 * each: at most the window towards the client, and the window towards the origin.
 */
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import type { BodyExpectation } from '../auth/body-verifier.ts';
import type { ExchangeId } from '../http/exchange.ts';
import type { HttpServer } from '../http/http-server.ts';
import { AnswerTokens } from './client-answer.ts';
import type { ForwardPort } from './forward.ts';
import { Passage } from './passage.ts';
import type { PassageContext, WriteHooks } from './passage.ts';
import type { PassedRequest } from './passed-request.ts';

const noBody: BodyExpectation = {
  form: 'unsigned',
  hash: '',
  contentLength: 0,
  decodedLength: null,
  declaredTrailers: [],
  signing: null,
};

export class PassThrough {
  /** Hears of each exchange that is over: whoever feeds its body has nothing more to do. */
  onOver: (exchange: ExchangeId) => void = () => undefined;
  readonly #passages = new Map<ExchangeId, Passage>();
  readonly #tokens = new AnswerTokens();
  readonly #context: PassageContext;

  constructor(server: HttpServer, port: ForwardPort, hooks: WriteHooks) {
    const over = (exchange: ExchangeId): void => {
      this.#passages.delete(exchange);
      this.onOver(exchange);
    };
    this.#context = { server, port, hooks, tokens: this.#tokens, over };
  }

  /** Requests that are under way. */
  get inFlight(): number {
    return this.#passages.size;
  }

  /**
   * Takes over an authorised exchange: its body hasn't been asked for, and nothing was answered. `expected` is what the accepted
   * signature promised about the body; null where there is none.
   */
  start(exchange: ExchangeId, passed: PassedRequest, expected: BodyExpectation | null): void {
    const passage = new Passage(this.#context, exchange, passed, expected ?? noBody);
    this.#passages.set(exchange, passage);
    passage.start();
  }

  /** Whether the exchange is one of these. */
  has(exchange: ExchangeId): boolean {
    return this.#passages.has(exchange);
  }

  onBody(exchange: ExchangeId, bytes: Uint8Array): void {
    this.#passages.get(exchange)?.receive(bytes);
  }

  onBodyEnd(exchange: ExchangeId): void {
    this.#passages.get(exchange)?.receivedAll();
  }

  /** Ends a request whose body isn't what it was taken for; the origin must not commit it. */
  refuse(exchange: ExchangeId, code: ErrorCode): void {
    this.#passages.get(exchange)?.refuse(code);
  }

  onGone(exchange: ExchangeId): void {
    this.#passages.get(exchange)?.clientGone();
  }

  /** A token came back on a client's connection. False when it isn't one of these. */
  onSent(token: number, errno: number): boolean {
    return this.#tokens.returned(token, errno);
  }
}
