/**
 * One request to an origin and its answer, over undici's dispatch interface.
 *
 * It adds what undici leaves open: back-pressure that holds (undici may deliver while paused), bounded retries with jitter for
 * idempotent requests, and timeouts that say who was waited for. The listener is called from the event loop only, never
 * out of a call to this object, and after `abort` not at all.
 *
 * While an origin says that it is overloaded, requests that are sent again wait longer, and new ones too (back-off.ts).
 *
 *   waiting ──connected──▶ sending ──head──▶ answering ──▶ over
 *      ▲                      │
 *      └────────retry─────────┘        (idempotent, before the head has been handed on)
 */
import type { Dispatcher } from 'undici';
import { failureFrom, originFailure } from './origin-failure.ts';
import type { OriginFailure } from './origin-failure.ts';
import type { OriginLimits } from './origin-limits.ts';
import { headerValue } from '../http/raw-headers.ts';
import type { BackOff } from './back-off.ts';
import type { OriginClock } from './origin-clock.ts';
import type { OriginCounters } from './origin-counters.ts';
import { RequestBody } from './request-body.ts';

export interface OriginListener {
  /** Headers raw: name, value, … as binary strings in the origin's order and case. */
  onHead(status: number, headers: string[]): void;
  /** The bytes may be kept. */
  onBody(bytes: Uint8Array): void;
  /** The whole body came. */
  onEnd(): void;
  onFailed(failure: OriginFailure): void;
  /** More of the request's body may be written. */
  onDrain(): void;
}

export interface OriginRequest {
  /** For the counters. */
  readonly operation: string;
  readonly method: string;
  readonly target: string;
  /** Its headers, signed for a moment in ms since 1970: name, value, …; with a host, without content-length. */
  sign(now: number): string[];
  /** Exact; null for none. */
  readonly bodyLength: number | null;
  /** It may be sent again before any of its answer was used; only without a body. */
  readonly idempotent: boolean;
  /**
   * Statuses that are tried again when tries are left; empty when answers are relayed as they come. Such requests have clients
   * that back off by themselves: only the others wait while the origin is overloaded.
   */
  readonly retryStatuses: ReadonlySet<number>;
  /** How long the first byte of the answer may take once the request is sent. */
  readonly firstByteTimeoutMs: number;
  /** The name to ask for in a TLS handshake, where it isn't the Host header's. */
  readonly serverName?: string;
}

const retryBaseMs = 40;
/** Answers that say that the origin has too much to do. */
const slowDownStatuses: ReadonlySet<number> = new Set([429, 503]);
/** HTTP parsers let any three digits pass; HTTP itself, and whatever counts answers by status, ends here. */
const maxStatus = 599;

/** What the client has to do for an exchange: send it, and forget it once it is over. */
export interface ExchangeHost {
  readonly base: string;
  readonly counters: OriginCounters;
  readonly limits: OriginLimits;
  readonly backOff: BackOff;
  readonly clock: OriginClock;
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  over(exchange: OriginExchange): void;
}

/** undici takes the name for TLS with each request; its types don't say so. */
type NamedDispatchOptions = Dispatcher.DispatchOptions & { readonly servername?: string };

type Stage = 'waiting' | 'sending' | 'answering' | 'over';

export class OriginExchange {
  readonly #host: ExchangeHost;
  readonly #request: OriginRequest;
  readonly #listener: OriginListener;
  readonly #body: RequestBody | null;
  #stage: Stage = 'waiting';
  #attempt: Attempt | null = null;
  #tries = 0;
  /** When the attempt in flight was sent, as the origin's clock has it. */
  #signedFor = 0;
  #sendTimer: NodeJS.Timeout | null = null;
  #paused = false;
  #resumeScheduled = false;
  /** Came while paused: at most what undici had buffered. */
  readonly #held: Uint8Array[] = [];
  #ended = false;
  #bodyQueued = 0;
  #bodySent = 0;
  #movedAt: number;
  #sentAt = 0;

  /** `refused`: too many requests are in flight already, this one only says so. */
  constructor(
    host: ExchangeHost,
    request: OriginRequest,
    listener: OriginListener,
    refused: boolean,
  ) {
    this.#host = host;
    this.#request = request;
    this.#listener = listener;
    const length = request.bodyLength ?? 0;
    this.#body = length > 0 ? new RequestBody(length, () => this.#drained()) : null;
    this.#movedAt = performance.now();
    host.counters.inFlight++;
    queueMicrotask(() => {
      if (refused) this.#refuse();
      else this.#sendInTurn();
    });
  }

  /** Copies bytes of the request's body. False: wait for `onDrain`. */
  write(bytes: Uint8Array): boolean {
    if (this.#body === null || this.#stage === 'over') return true;
    this.#bodyQueued += bytes.length;
    return this.#body.write(bytes);
  }

  /** The request's body is complete. */
  end(): void {
    if (this.#stage !== 'over') this.#body?.end();
  }

  pause(): void {
    this.#paused = true;
    this.#attempt?.controller?.pause();
  }

  resume(): void {
    if (!this.#paused || this.#stage === 'over') return;
    this.#paused = false;
    this.#movedAt = performance.now();
    if (this.#resumeScheduled) return;
    this.#resumeScheduled = true;
    queueMicrotask(() => {
      this.#resumeScheduled = false;
      this.#flush();
    });
  }

  /** Destroys the connection, so that a partial request can't be taken for a whole one. Nothing follows. */
  abort(): void {
    if (this.#stage === 'over') return;
    this.#finish();
    this.#attempt?.destroy();
    this.#body?.destroy();
  }

  /** Called by the client every now and then: ends an exchange in which nothing has moved for too long. */
  checkTimeout(now: number): void {
    const limit = this.#timeoutMs();
    if (limit === 0 || now - this.#movedAt < limit) return;
    const what = this.#stage === 'waiting' ? 'no connection' : 'nothing moved';
    this.#fail(originFailure('timeout', `${what} for ${limit} ms at ${this.#host.base}`));
  }

  /** How long the origin may keep this exchange waiting as things stand; 0 while it isn't the origin's turn. */
  #timeoutMs(): number {
    const { limits } = this.#host;
    switch (this.#stage) {
      case 'waiting':
        return limits.waitTimeoutMs;
      case 'sending': {
        if (this.#bodySent === (this.#request.bodyLength ?? 0))
          return this.#request.firstByteTimeoutMs;
        return this.#bodyQueued > this.#bodySent ? limits.idleTimeoutMs : 0;
      }
      case 'answering':
        return this.#paused || this.#ended ? 0 : limits.idleTimeoutMs;
      case 'over':
        return 0;
    }
  }

  #refuse(): void {
    this.#host.counters.limitReached++;
    this.#fail(originFailure('busy', `too many requests wait for ${this.#host.base}`));
  }

  /** Sends it, or waits first where the origin asked for less. */
  #sendInTurn(): void {
    if (this.#stage === 'over') return;
    const isHeld = this.#request.retryStatuses.size > 0;
    const ms = isHeld ? this.#host.backOff.holdMs(performance.now(), Math.random()) : 0;
    if (ms === 0) {
      this.#send();
      return;
    }
    this.#host.counters.held++;
    this.#sendTimer = setTimeout(() => this.#sendInTurn(), ms);
  }

  #send(): void {
    this.#tries++;
    this.#movedAt = performance.now();
    this.#sentAt = this.#movedAt;
    const { method, target, bodyLength, serverName } = this.#request;
    this.#signedFor = this.#host.clock.now();
    const headers = this.#request.sign(this.#signedFor);
    const attempt = new Attempt(this, this.#host.base);
    this.#attempt = attempt;
    const options: NamedDispatchOptions = {
      path: target,
      method,
      headers: bodyLength === null ? headers : [...headers, 'content-length', String(bodyLength)],
      body: this.#body,
      // undici closes after a HEAD unless told otherwise.
      ...(method === 'HEAD' ? { reset: false } : {}),
      ...(serverName === undefined ? {} : { servername: serverName }),
    };
    try {
      this.#host.dispatch(options, attempt);
    } catch (error) {
      this.#fail(failureFrom(error, this.#host.base));
    }
  }

  #canRetry(): boolean {
    const { idempotent } = this.#request;
    return idempotent && this.#stage !== 'answering' && this.#tries < this.#host.limits.tries;
  }

  #retryLater(): void {
    this.#host.counters.retries++;
    this.#attempt = null;
    this.#stage = 'waiting';
    this.#movedAt = performance.now();
    // Full jitter: many readers fail together and must not come back together.
    const delay = retryBaseMs * 2 ** this.#tries * Math.random();
    this.#sendTimer = setTimeout(() => this.#sendInTurn(), delay);
  }

  // ---- what the attempt in flight reports; an attempt that was given up reports nothing

  isCurrent(attempt: Attempt): boolean {
    return this.#attempt === attempt && this.#stage !== 'over';
  }

  sending(): void {
    this.#stage = 'sending';
    this.#movedAt = performance.now();
  }

  sent(bytes: number): void {
    this.#bodySent += bytes;
    this.#host.counters.bodyBytesSent += bytes;
    this.#movedAt = performance.now();
  }

  answered(status: number, headers: string[], controller: Dispatcher.DispatchController): void {
    if (status > maxStatus) {
      this.#fail(originFailure('protocol', `${this.#host.base} answered with status ${status}`));
      return;
    }
    this.#host.counters.answered(this.#request.operation, status);
    if (slowDownStatuses.has(status)) this.#host.backOff.slowedDown(performance.now());
    else this.#host.backOff.wentWell(this.#sentAt);
    const isLate =
      status === 403 && this.#host.clock.refusedAt(headerValue(headers, 'date'), this.#signedFor);
    if ((isLate || this.#request.retryStatuses.has(status)) && this.#canRetry()) {
      // The error's body runs out unread, which keeps the connection.
      this.#retryLater();
      return;
    }
    this.#stage = 'answering';
    this.#movedAt = performance.now();
    if (this.#paused) controller.pause();
    this.#listener.onHead(status, headers);
  }

  received(bytes: Uint8Array): void {
    this.#movedAt = performance.now();
    this.#host.counters.bodyBytesReceived += bytes.length;
    if (this.#paused || this.#held.length > 0) this.#held.push(bytes);
    else this.#listener.onBody(bytes);
  }

  complete(): void {
    this.#ended = true;
    if (this.#paused || this.#held.length > 0) return;
    this.#finish();
    this.#listener.onEnd();
  }

  broke(failure: OriginFailure): void {
    if (failure.retryable && this.#canRetry()) this.#retryLater();
    else this.#fail(failure);
  }

  #flush(): void {
    while (this.#held.length > 0) {
      if (this.#paused || this.#stage === 'over') return;
      this.#listener.onBody(this.#held.shift()!);
    }
    if (this.#paused || this.#stage === 'over') return;
    if (!this.#ended) this.#attempt?.controller?.resume();
    else this.complete();
  }

  #drained(): void {
    queueMicrotask(() => {
      if (this.#stage !== 'over') this.#listener.onDrain();
    });
  }

  #fail(failure: OriginFailure): void {
    if (this.#stage === 'over') return;
    this.#host.counters.failed(failure.code);
    this.#finish();
    this.#attempt?.destroy();
    this.#body?.destroy();
    this.#listener.onFailed(failure);
  }

  #finish(): void {
    this.#stage = 'over';
    this.#held.length = 0;
    if (this.#sendTimer !== null) clearTimeout(this.#sendTimer);
    this.#host.counters.inFlight--;
    this.#host.over(this);
  }
}

/** One try: what undici calls. */
class Attempt implements Dispatcher.DispatchHandler {
  readonly #exchange: OriginExchange;
  readonly #base: string;
  controller: Dispatcher.DispatchController | null = null;
  #destroyed = false;

  constructor(exchange: OriginExchange, base: string) {
    this.#exchange = exchange;
    this.#base = base;
  }

  destroy(): void {
    this.#destroyed = true;
    this.controller?.abort(new Error('given up'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // Given up while it waited for a connection.
    if (this.#destroyed) controller.abort(new Error('given up'));
    else if (this.#exchange.isCurrent(this)) this.#exchange.sending();
  }

  onBodySent(chunk: Uint8Array): void {
    if (this.#exchange.isCurrent(this)) this.#exchange.sent(chunk.length);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    // 1xx answers say nothing that anybody waits for.
    if (status < 200 || !this.#exchange.isCurrent(this)) return;
    this.#exchange.answered(status, binaryHeaders(controller.rawHeaders), controller);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#exchange.isCurrent(this)) this.#exchange.received(chunk);
  }

  onResponseEnd(): void {
    if (this.#exchange.isCurrent(this)) this.#exchange.complete();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#exchange.isCurrent(this)) this.#exchange.broke(failureFrom(error, this.#base));
  }
}

function binaryHeaders(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  if (!Array.isArray(raw)) return [];
  return raw.map((part) => (typeof part === 'string' ? part : part.toString('latin1')));
}
