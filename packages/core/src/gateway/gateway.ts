/**
 * The gateway: turns a client's GET or HEAD into reads of nodes, and what they answer into one exact answer of S3.
 *
 * 1. `onRequest`: metadata known here and still good? Then conditions and range decide at once (304, 412, 416, HEAD), or
 *    the first piece is asked for from its owner. Unknown: the home is asked, and brings the first bytes along.
 * 2. `onAnswer`: the head goes out with the first bytes, so that anything that fails earlier can start over or become an
 *    error. A changed object starts over through the home, a few times; afterwards the request is passed through.
 * 3. `onBodyQueued`, `onTaken`: the next piece, once the client has taken the last one; so a client that doesn't read
 *    holds nothing but its own socket.
 * 4. `onBodyFailed`, a failed node, a timeout: the rest through the next candidate, once.
 * 5. `onWriteStarted`, `onWriteFinished`: reads that come later see that write.
 *
 * Decides only; gateway/effects.ts makes it happen. Stateless but for memory of metadata and writes. A hit on the way
 * allocates nothing: records are pooled, and a full pool answers SlowDown.
 */
import { assert } from '../base/assert.ts';
import type { Hash128 } from '../base/hash.ts';
import type { Layout } from '../layout.ts';
import type { ReadAnswer } from '../read.ts';
import type { Ring } from '../ring.ts';
import type { ClientRequest } from './client-request.ts';
import { newGatewayCounters, type GatewayCounters } from './counters.ts';
import type { ExchangeId, GatewayEffects, ReadId } from './effects.ts';
import { Knowledge, type WriteOutcome } from './knowledge.ts';
import type { GatewayLimits } from './limits.ts';
import { Planner } from './plan.ts';
import { Stages } from './stages.ts';

export interface GatewayOptions {
  readonly effects: GatewayEffects;
  readonly layout: Layout;
  readonly ring: Ring;
  readonly limits: GatewayLimits;
  /** 32 bits that outsiders don't know, for positions in tables. */
  readonly seed: number;
}

/** What a gateway holds right now; all but the metadata is zero when no client is served. */
export interface GatewayLevels {
  readonly clientReads: number;
  readonly outstandingReads: number;
  readonly metadataEntries: number;
  readonly metadataBytes: number;
  readonly writeMarks: number;
}

export class Gateway {
  readonly counters: GatewayCounters = newGatewayCounters();
  readonly #knowledge: Knowledge;
  readonly #planner: Planner;
  readonly #stages: Stages;
  #isInside = false;

  constructor({ effects, layout, ring, limits, seed }: GatewayOptions) {
    this.#knowledge = new Knowledge(limits, seed);
    this.#planner = new Planner(layout, ring);
    this.#stages = new Stages(effects, this.#knowledge, this.#planner, limits, this.counters);
  }

  /** A client asks for an object. The request is copied; exactly one effect will end the exchange. */
  onRequest(now: number, exchange: ExchangeId, request: ClientRequest): void {
    this.#enter();
    this.counters.requests += 1;
    const client = this.#stages.admit(exchange, request);
    if (client !== null) this.#stages.start(now, client);
    this.#leave();
  }

  /** A node answered a read. An answer with a body is followed by `relayBody` or by `cancelRead` in the same call. */
  onAnswer(now: number, read: ReadId, answer: ReadAnswer): void {
    this.#enter();
    const client = this.#stages.clientWaitingFor(read);
    if (client !== null) {
      switch (answer.kind) {
        case 'metadata':
          this.#stages.takeMetadata(now, client, answer);
          break;
        case 'bytes':
          this.#stages.takeBytes(now, client, answer);
          break;
        case 'failure':
          this.#stages.fail(now, client, answer.failure, answer.error);
      }
    }
    this.#leave();
  }

  /** The whole body of a relayed answer is queued on the client's connection. */
  onBodyQueued(_now: number, exchange: ExchangeId, read: ReadId): void {
    this.#enter();
    const client = this.#stages.clientWaitingFor(read);
    if (client?.exchange === exchange) this.#stages.pieceQueued(client);
    this.#leave();
  }

  /** The body of a relayed answer broke off after `queuedBytes` of it were queued. */
  onBodyFailed(now: number, exchange: ExchangeId, read: ReadId, queuedBytes: number): void {
    this.#enter();
    const client = this.#stages.clientWaitingFor(read);
    if (client?.exchange === exchange) this.#stages.pieceBroke(now, client, queuedBytes);
    this.#leave();
  }

  /** The client's kernel has taken everything that was queued when `awaitTaken` was called. */
  onTaken(now: number, exchange: ExchangeId): void {
    this.#enter();
    const client = this.#stages.clientOf(exchange);
    if (client?.stage === 'untaken') this.#stages.nextPiece(now, client);
    this.#leave();
  }

  /** The client left before its answer was finished: everything held for it is free again. */
  onClientGone(_now: number, exchange: ExchangeId): void {
    this.#enter();
    const client = this.#stages.clientOf(exchange);
    if (client !== null) this.#stages.forget(client);
    this.#leave();
  }

  /** A write of the object is about to be forwarded. */
  onWriteStarted(now: number, hash: Hash128): void {
    this.#enter();
    this.#knowledge.writeStarted(now, hash);
    this.#leave();
  }

  /** The write was answered, or nobody knows: call it before the client hears of it. */
  onWriteFinished(now: number, hash: Hash128, outcome: WriteOutcome): void {
    this.#enter();
    this.#knowledge.writeFinished(now, hash, outcome);
    this.#leave();
  }

  /** A newer ring: reads that are out stay where they are, later ones follow it. */
  onRing(_now: number, ring: Ring): void {
    this.#enter();
    this.#planner.ring = ring;
    this.#leave();
  }

  /** Call it once `nextDeadline()` has passed. */
  onTick(now: number): void {
    this.#enter();
    for (;;) {
      const client = this.#stages.overdue(now);
      if (client === null) break;
      this.#stages.timeOut(now, client);
    }
    this.#leave();
  }

  /** The moment that `onTick` is due, Infinity when nothing waits. */
  nextDeadline(): number {
    return this.#stages.deadline;
  }

  levels(): GatewayLevels {
    return {
      clientReads: this.#stages.active,
      outstandingReads: this.#stages.outstanding,
      metadataEntries: this.#knowledge.metadata.count,
      metadataBytes: this.#knowledge.metadata.bytes,
      writeMarks: this.#knowledge.marks.count,
    };
  }

  #enter(): void {
    assert(!this.#isInside, 'effects never call the gateway back');
    this.#isInside = true;
  }

  #leave(): void {
    this.#isInside = false;
  }
}
