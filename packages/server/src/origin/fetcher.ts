/**
 * The node's fetches from S3: carries out the core's FetchRequests and reports heads, bytes and ends.
 *
 * Bytes are handed over as they come. The receiver says how many it took; the rest is held, the origin paused, until `more`.
 * So memory for one fetch is bounded by what one socket read brings and what undici buffers. Events come from the event loop,
 * never out of `start`, `more` or `cancel`; after `cancel` none comes.
 *
 * An answer counts as `complete` only when exactly the promised bytes came. Only fetches of a whole object, or of its head, ask
 * for checksums: those of a part would pass for the object's.
 */
import type {
  FetchEnd,
  FetchHead,
  FetchId,
  FetchRequest,
} from '@s3-accelerator/core/node/effects.ts';
import type { OriginError } from '@s3-accelerator/core/read.ts';
import { readFetchHead } from './fetch-head.ts';
import type { OriginClient } from './origin-client.ts';
import { ErrorCollector } from './origin-error.ts';
import type { OriginExchange, OriginListener, OriginRequest } from './origin-exchange.ts';
import { noCredentials, noOrigin } from './origin-failure.ts';
import type { OriginFailure } from './origin-failure.ts';
import { OriginSigner, emptyPayloadHash } from './origin-signer.ts';
import { hostOf, objectTarget, serverNameOf } from './origin-target.ts';
import type { Origin, OriginCredentials, Origins } from './origins.ts';

export interface FetchEvents {
  /** An error's head comes with its body in `error`, and ends the fetch: nothing follows. */
  onHead(fetch: FetchId, head: FetchHead): void;
  /** Returns how many bytes it took: fewer than given pauses the fetch until `more`. The bytes may not be kept. */
  onBytes(fetch: FetchId, bytes: Uint8Array): number;
  onEnd(fetch: FetchId, end: FetchEnd): void;
  /** No answer at all, in place of a head. */
  onFailed(fetch: FetchId, error: OriginError | null): void;
}

/** Told of every failure, so that it can be logged (rarely, and by kind). */
export type FetchFailureLog = (failure: OriginFailure, bucket: string) => void;

/** Tried again: S3 says these when it is overloaded or stumbled. */
const retryStatuses: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

export class Fetcher {
  readonly #client: OriginClient;
  readonly #origins: () => Origins;
  readonly #events: FetchEvents;
  readonly #failureLog: FetchFailureLog;
  readonly #signer = new OriginSigner();
  readonly #fetches = new Map<FetchId, Fetch>();

  /** `origins` is asked on every start, so that a reload takes effect. */
  constructor(
    client: OriginClient,
    origins: () => Origins,
    events: FetchEvents,
    failureLog: FetchFailureLog,
  ) {
    this.#client = client;
    this.#origins = origins;
    this.#events = events;
    this.#failureLog = failureLog;
  }

  /** Fetches that haven't ended. */
  get inFlight(): number {
    return this.#fetches.size;
  }

  start(id: FetchId, request: FetchRequest): void {
    const { bucket } = request;
    const fetch = new Fetch(id, request.headOnly, this.#events, {
      ended: () => this.#fetches.delete(id),
      failed: (failure) => this.#failureLog(failure, bucket),
    });
    this.#fetches.set(id, fetch);
    const origins = this.#origins();
    const origin = origins.of(bucket);
    const credentials = origin?.credentials() ?? null;
    if (origin !== null && credentials !== null) {
      const signed = this.#sign(origin, credentials, request);
      fetch.exchange = this.#client.request(origin, signed, fetch);
      return;
    }
    const failure = origin === null ? noOrigin(bucket, origins) : noCredentials(origin);
    this.#client.counters.failed(failure.code);
    queueMicrotask(() => fetch.onFailed(failure));
  }

  /** The receiver has room again. */
  more(id: FetchId): void {
    this.#fetches.get(id)?.more();
  }

  cancel(id: FetchId): void {
    const fetch = this.#fetches.get(id);
    if (fetch === undefined) return;
    this.#fetches.delete(id);
    fetch.cancel();
  }

  #sign(origin: Origin, credentials: OriginCredentials, request: FetchRequest): OriginRequest {
    const method = request.headOnly ? 'HEAD' : 'GET';
    const target = objectTarget(origin, request.bucket, request.key);
    // Without it origins may compress, and then bytes and lengths aren't the object's.
    const host = hostOf(origin, request.bucket);
    const headers = ['host', host, 'accept-encoding', 'identity'];
    const range = rangeHeader(request);
    if (range !== '') headers.push('range', range);
    else headers.push('x-amz-checksum-mode', 'ENABLED');
    if (request.ifMatch !== '') headers.push('if-match', request.ifMatch);
    if (request.ifNoneMatch !== '') headers.push('if-none-match', request.ifNoneMatch);
    const sign = (now: number): string[] => {
      const signed = [...headers];
      const { region } = origin;
      this.#signer.sign(method, target, signed, emptyPayloadHash, credentials, region, now);
      return signed;
    };
    return {
      operation: request.headOnly ? 'HeadObject' : 'GetObject',
      method,
      target,
      sign,
      bodyLength: null,
      idempotent: true,
      retryStatuses,
      firstByteTimeoutMs: origin.limits.firstByteTimeoutMs,
      ...serverNameOf(origin, request.bucket),
    };
  }
}

function rangeHeader(request: FetchRequest): string {
  switch (request.rangeKind) {
    case 'none':
      return '';
    case 'bounded':
      return `bytes=${request.first}-${request.last}`;
    case 'from':
      return `bytes=${request.first}-`;
    case 'suffix':
      return `bytes=-${request.first}`;
  }
}

interface FetchOwner {
  ended(): void;
  failed(failure: OriginFailure): void;
}

/** One fetch in flight: counts the body against its promise, holds what wasn't taken, collects an error's body. */
class Fetch implements OriginListener {
  readonly #id: FetchId;
  readonly #headOnly: boolean;
  readonly #events: FetchEvents;
  readonly #owner: FetchOwner;
  exchange: OriginExchange | null = null;
  #begun = false;
  #promised = 0;
  #received = 0;
  /** Bytes that weren't taken: while there are any the origin is paused. */
  #rest: Uint8Array | null = null;
  #moreScheduled = false;
  #cancelled = false;
  #over = false;
  #error: ErrorCollector | null = null;

  constructor(id: FetchId, headOnly: boolean, events: FetchEvents, owner: FetchOwner) {
    this.#id = id;
    this.#headOnly = headOnly;
    this.#events = events;
    this.#owner = owner;
  }

  cancel(): void {
    this.#cancelled = true;
    this.exchange?.abort();
  }

  more(): void {
    if (this.#rest === null || this.#moreScheduled) return;
    this.#moreScheduled = true;
    queueMicrotask(() => {
      this.#moreScheduled = false;
      const rest = this.#rest;
      if (rest === null || this.#cancelled || this.#over) return;
      this.#rest = null;
      this.#deliver(rest);
      if (this.#restIsTaken()) this.exchange?.resume();
    });
  }

  onHead(status: number, headers: string[]): void {
    // S3 redirects to another region or endpoint with an error document.
    if (status >= 300 && status !== 304) {
      this.#error = new ErrorCollector(status, headers);
      return;
    }
    const head = readFetchHead(status, headers, this.#headOnly, null);
    this.#begun = true;
    // Of unknown length: whatever comes until the end is what was meant.
    this.#promised = head.length;
    this.#events.onHead(this.#id, head);
  }

  onBody(bytes: Uint8Array): void {
    if (this.#error !== null) {
      if (!this.#error.push(bytes)) this.#cutError();
      return;
    }
    this.#received += bytes.length;
    if (this.#promised >= 0 && this.#received > this.#promised) {
      this.exchange?.abort();
      this.#end('broken');
      return;
    }
    this.#deliver(bytes);
  }

  onEnd(): void {
    if (this.#error !== null) {
      this.#endWithError(this.#error);
      return;
    }
    const whole = this.#promised < 0 || this.#received === this.#promised;
    this.#end(whole ? 'complete' : 'broken');
  }

  onFailed(failure: OriginFailure): void {
    if (this.#cancelled) return;
    this.#owner.failed(failure);
    if (this.#begun) {
      this.#end('broken');
    } else if (this.#error !== null) {
      // The error's body broke off: its head says enough.
      this.#endWithError(this.#error);
    } else {
      this.#leave();
      this.#events.onFailed(this.#id, null);
    }
  }

  onDrain(): void {
    // Fetches have no body to write.
  }

  #deliver(bytes: Uint8Array): void {
    const taken = this.#events.onBytes(this.#id, bytes);
    if (taken >= bytes.length) return;
    this.#rest = bytes.subarray(taken);
    this.exchange?.pause();
  }

  #cutError(): void {
    this.exchange?.abort();
    if (this.#error !== null) this.#endWithError(this.#error);
  }

  #endWithError(collected: ErrorCollector): void {
    this.#leave();
    const { status, headers } = collected;
    const head = readFetchHead(status, headers, this.#headOnly, collected.error());
    this.#events.onHead(this.#id, head);
  }

  #end(end: FetchEnd): void {
    this.#leave();
    this.#events.onEnd(this.#id, end);
  }

  #leave(): void {
    this.#over = true;
    this.#owner.ended();
  }

  #restIsTaken(): boolean {
    return this.#rest === null;
  }
}
