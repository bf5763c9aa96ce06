/**
 * How an exchange ends: each way takes back the reads that are still out and gives the record back before it tells the
 * driver, which may begin the next request at once.
 */
import { assert } from '../base/assert.ts';
import { IdTable } from '../base/id-table.ts';
import { SlotPool } from '../base/slot-pool.ts';
import type { ObjectMetadata, OriginError } from '../read.ts';
import type { ErrorCode } from '../s3/errors.ts';
import { ClientRead } from './client-read.ts';
import type { ClientRequest } from './client-request.ts';
import type { GatewayCounters } from './counters.ts';
import type { ExchangeId, GatewayEffects } from './effects.ts';
import type { GatewayLimits } from './limits.ts';
import type { OutstandingReads } from './outstanding-reads.ts';

export class Exchanges {
  readonly #effects: GatewayEffects;
  readonly #reads: OutstandingReads;
  readonly #counters: GatewayCounters;
  readonly #clients: SlotPool<ClientRead>;
  readonly #byExchange: IdTable<ClientRead>;

  constructor(
    effects: GatewayEffects,
    reads: OutstandingReads,
    limits: GatewayLimits,
    counters: GatewayCounters,
  ) {
    this.#effects = effects;
    this.#reads = reads;
    this.#counters = counters;
    this.#clients = new SlotPool(limits.maxReads, () => new ClientRead());
    this.#byExchange = new IdTable(limits.maxReads);
  }

  /** Client reads under way. */
  get active(): number {
    return this.#byExchange.size;
  }

  get(exchange: ExchangeId): ClientRead | null {
    return this.#byExchange.get(exchange);
  }

  /** Takes a record for the request; null, and the exchange answered, when all are in use. */
  begin(exchange: ExchangeId, request: ClientRequest): ClientRead | null {
    const id = this.#clients.acquire();
    const client = this.#clients.get(id);
    if (client === null) {
      this.#counters.slowDowns += 1;
      this.#effects.answerError(exchange, 'SlowDown', null);
      return null;
    }
    client.begin(id, exchange, request);
    this.#byExchange.set(exchange, client);
    return client;
  }

  finish(client: ClientRead): void {
    const { exchange } = client;
    this.release(client);
    this.#effects.finish(exchange);
  }

  /** A whole answer without a body. */
  finishWithHead(
    client: ClientRead,
    status: 200 | 206 | 304,
    metadata: ObjectMetadata,
    first: number,
    length: number,
  ): void {
    const { exchange, known, restarts } = client;
    assert(known !== null, 'what is answered is known');
    this.#counters.withoutBody += 1;
    this.release(client);
    this.#effects.answerHead(exchange, status, metadata, first, length, known, restarts);
    this.#effects.finish(exchange);
  }

  answerError(client: ClientRead, code: ErrorCode, metadata: ObjectMetadata | null): void {
    const { exchange } = client;
    this.release(client);
    this.#effects.answerError(exchange, code, metadata);
  }

  answerOriginError(client: ClientRead, error: OriginError): void {
    const { exchange } = client;
    this.release(client);
    this.#effects.answerOriginError(exchange, error);
  }

  passThrough(client: ClientRead): void {
    const { exchange } = client;
    this.#counters.passThroughs += 1;
    this.release(client);
    this.#effects.passThrough(exchange);
  }

  /** Promised bytes won't come. */
  abort(client: ClientRead): void {
    const { exchange } = client;
    this.#counters.aborts += 1;
    this.release(client);
    this.#effects.abort(exchange);
  }

  /** Nobody can serve this: an error, or a cut once the head is out. */
  giveUp(client: ClientRead): void {
    if (client.headSent) this.abort(client);
    else this.answerError(client, 'ServiceUnavailable', null);
  }

  /** Takes back every read that is out for a client. */
  withdrawReads(client: ClientRead): void {
    if (client.lookup !== null) {
      this.#effects.cancelRead(client.lookup.id);
      this.#reads.end(client.lookup);
      client.lookup = null;
    }
    for (let piece = client.pieces.shift(); piece !== null; piece = client.pieces.shift()) {
      this.#effects.cancelRead(piece.id);
      this.#reads.end(piece);
    }
    this.#reads.countUntaken(client.takenTo - client.askedTo);
    client.askedTo = client.takenTo;
  }

  /** The record is free again, and no read is out for it. */
  release(client: ClientRead): void {
    this.withdrawReads(client);
    client.metadata = null;
    client.known = null;
    this.#byExchange.delete(client.exchange);
    this.#clients.release(client.id);
  }
}
