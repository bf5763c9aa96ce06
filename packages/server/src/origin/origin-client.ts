/**
 * Speaks HTTP/1.1 with origins: a bounded pool of connections for each, targets and headers byte for byte.
 *
 * undici's `dispatch` level is used because it sends a target as it is given (`//`, `..`, `%2f`, `+`) and hands out raw
 * headers; `fetch` would normalise the one and decompress by the other.
 */
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { BackOff } from './back-off.ts';
import { OriginClock } from './origin-clock.ts';
import { OriginCounters } from './origin-counters.ts';
import { OriginExchange } from './origin-exchange.ts';
import type { ExchangeHost, OriginListener, OriginRequest } from './origin-exchange.ts';
import type { OriginLimits } from './origin-limits.ts';
import type { Origin } from './origins.ts';

/** How often timeouts are looked at; they are that much late at most. */
const sweepMs = 250;

export class OriginClient {
  readonly counters = new OriginCounters();
  /** By endpoint, authorities and limits: a reload that changes limits makes new lanes, and the old one's connections idle out. */
  readonly #lanes = new Map<string, Lane>();
  readonly #onClockSet: (base: string, aheadMs: number) => void;
  #closed = false;

  /** `onClockSet` is told when an origin turns out to have another time than this machine: by how much it is ahead. */
  constructor(onClockSet: (base: string, aheadMs: number) => void = () => undefined) {
    this.#onClockSet = onClockSet;
  }

  /** Sends a request. The listener is called later, never out of this call. */
  request(origin: Origin, request: OriginRequest, listener: OriginListener): OriginExchange {
    return this.#lane(origin).start(request, listener);
  }

  /** Ends everything in flight without a word to its listeners, and closes all connections. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#lanes.values()].map((lane) => lane.close()));
    this.#lanes.clear();
  }

  #lane(origin: Origin): Lane {
    const key = `${origin.base} ${Object.values(origin.limits).join(' ')} ${origin.ca ?? ''}`;
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    if (this.#closed) throw new Error('the origin client is closed');
    const clock = new OriginClock((aheadMs) => {
      this.#onClockSet(origin.base, aheadMs);
    });
    const lane = new Lane(origin, this.counters, clock);
    this.#lanes.set(key, lane);
    return lane;
  }
}

/** All traffic with one endpoint. */
class Lane implements ExchangeHost {
  readonly base: string;
  readonly limits: OriginLimits;
  readonly counters: OriginCounters;
  readonly backOff = new BackOff();
  readonly clock: OriginClock;
  readonly #pool: Pool;
  readonly #exchanges = new Set<OriginExchange>();
  #sweep: NodeJS.Timeout | null = null;

  constructor({ base, ca, limits }: Origin, counters: OriginCounters, clock: OriginClock) {
    this.clock = clock;
    this.base = base;
    this.limits = limits;
    this.counters = counters;
    this.#pool = new Pool(base, {
      connections: limits.connections,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: limits.connectTimeoutMs, ...(ca === null ? {} : { ca }) },
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: limits.maxHeaderBytes,
      // Our own clocks know whose turn it is; undici's don't.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  start(request: OriginRequest, listener: OriginListener): OriginExchange {
    const refused = this.#exchanges.size >= this.limits.requests;
    const exchange = new OriginExchange(this, request, listener, refused);
    this.#exchanges.add(exchange);
    this.#sweep ??= setInterval(() => this.#checkTimeouts(), sweepMs).unref();
    return exchange;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#pool.dispatch(options, handler);
  }

  over(exchange: OriginExchange): void {
    this.#exchanges.delete(exchange);
    if (this.#exchanges.size > 0 || this.#sweep === null) return;
    clearInterval(this.#sweep);
    this.#sweep = null;
  }

  async close(): Promise<void> {
    for (const exchange of [...this.#exchanges]) exchange.abort();
    await this.#pool.destroy();
  }

  #checkTimeouts(): void {
    const now = performance.now();
    for (const exchange of this.#exchanges) exchange.checkTimeout(now);
  }
}
