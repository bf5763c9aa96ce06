/**
 * The gateway: turns a client's GET or HEAD into reads of nodes, and what they answer into one exact answer of S3.
 *
 * 1. `onRequest`: metadata known here and still good? Then conditions and range decide at once (304, 412, 416, HEAD), or
 *    the first piece is asked for from its owner. Unknown: the home is asked, and brings the first bytes along.
 * 2. `onAnswer`: the head goes out with the first bytes, so that anything that fails earlier can start over or become an
 *    error. A changed object starts over through the home, a few times; afterwards the request is passed through.
 * 3. The body comes in pieces from their owners, in parallel and ahead of the client by a window that grows as the client
 *    keeps up (`onBodyQueued`, `onTaken`); it goes out in order.
 * 4. `onBodyFailed`, a failed node, a timeout: the rest through the next candidates, and later reads go round that node.
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
import { Exchanges } from './exchanges.ts';
import { HotHints } from './hot-hints.ts';
import { Knowledge, type WriteOutcome } from './knowledge.ts';
import type { GatewayLimits } from './limits.ts';
import type { Moment } from './moment.ts';
import { OutstandingReads } from './outstanding-reads.ts';
import { Pieces } from './pieces.ts';
import { Planner } from './plan.ts';
import { Stages } from './stages.ts';
import { Suspects } from './suspects.ts';
import type { WriteEpochs } from './write-epochs.ts';

export interface GatewayOptions {
  readonly effects: GatewayEffects;
  readonly layout: Layout;
  readonly ring: Ring;
  readonly limits: GatewayLimits;
  /** Of the whole process: all loops of a gateway share them. */
  readonly epochs: WriteEpochs;
  /** 32 bits that outsiders don't know, for positions in tables. */
  readonly seed: number;
}

/** What a gateway holds right now; all but metadata and hints is zero when no client is served. */
export interface GatewayLevels {
  readonly clientReads: number;
  readonly outstandingReads: number;
  /** Bytes asked for that their clients haven't taken yet. */
  readonly untakenBytes: number;
  /** Nodes that reads go round. */
  readonly suspects: number;
  /** Hot placements whose reads are spread over several nodes. */
  readonly hotHints: number;
  readonly metadataEntries: number;
  readonly metadataBytes: number;
}

export class Gateway {
  readonly counters: GatewayCounters = newGatewayCounters();
  readonly #knowledge: Knowledge;
  readonly #suspects: Suspects;
  readonly #hints: HotHints;
  readonly #planner: Planner;
  readonly #reads: OutstandingReads;
  readonly #exchanges: Exchanges;
  readonly #pieces: Pieces;
  readonly #stages: Stages;
  readonly #moment: Moment = { now: 0 };
  #isInside = false;

  constructor({ effects, layout, ring, limits, epochs, seed }: GatewayOptions) {
    const { counters } = this;
    const moment = this.#moment;
    const knowledge = new Knowledge(moment, limits, epochs, seed);
    const suspects = new Suspects(limits.suspectMs);
    const hints = new HotHints(moment, limits.maxHotHints, seed);
    const planner = new Planner(layout, ring, suspects, hints, counters);
    const reads = new OutstandingReads(moment, limits, hints);
    const exchanges = new Exchanges(effects, reads, limits, counters);
    const pieces = new Pieces(effects, planner, reads, exchanges, limits, counters);
    const parts = {
      effects,
      moment,
      knowledge,
      planner,
      suspects,
      reads,
      exchanges,
      pieces,
      limits,
    };
    this.#knowledge = knowledge;
    this.#suspects = suspects;
    this.#hints = hints;
    this.#planner = planner;
    this.#reads = reads;
    this.#exchanges = exchanges;
    this.#pieces = pieces;
    this.#stages = new Stages({ ...parts, counters });
  }

  /** `read & readSlotMask` is the slot of a read's id: an index for what drivers keep of the reads that are out. */
  get readSlotMask(): number {
    return this.#reads.slotMask;
  }

  /** A client asks for an object. The request is copied; exactly one effect will end the exchange. */
  onRequest(now: number, exchange: ExchangeId, request: ClientRequest): void {
    this.#enter(now);
    this.counters.requests += 1;
    const client = this.#exchanges.begin(exchange, request);
    if (client !== null) this.#stages.start(client);
    this.#leave();
  }

  /** A node answered a read. An answer with a body is followed by `relayBody` or by `cancelRead`, now or later. */
  onAnswer(now: number, id: ReadId, answer: ReadAnswer): void {
    this.#enter(now);
    const read = this.#reads.get(id);
    const client = read?.client ?? null;
    if (read !== null && client !== null) this.#stages.answered(client, read, answer);
    this.#leave();
  }

  /** The whole body of a relayed answer is queued on the client's connection. */
  onBodyQueued(now: number, exchange: ExchangeId, id: ReadId): void {
    this.#enter(now);
    const read = this.#reads.get(id);
    const client = read?.client ?? null;
    if (read !== null && client?.exchange === exchange) this.#pieces.queued(client, read);
    this.#leave();
  }

  /** The body of a relayed answer broke off after `queuedBytes` of it were queued. */
  onBodyFailed(now: number, exchange: ExchangeId, id: ReadId, queuedBytes: number): void {
    this.#enter(now);
    const read = this.#reads.get(id);
    const client = read?.client ?? null;
    if (read !== null && client?.exchange === exchange) {
      this.#pieces.broke(client, read, queuedBytes);
    }
    this.#leave();
  }

  /** The client's kernel has taken everything that was queued when `awaitTaken` was called. */
  onTaken(now: number, exchange: ExchangeId): void {
    this.#enter(now);
    const client = this.#exchanges.get(exchange);
    if (client !== null && client.takingTo >= 0) this.#pieces.taken(client);
    this.#leave();
  }

  /** The client left before its answer was finished: everything held for it is free again. */
  onClientGone(now: number, exchange: ExchangeId): void {
    this.#enter(now);
    const client = this.#exchanges.get(exchange);
    if (client !== null) this.#exchanges.release(client);
    this.#leave();
  }

  /** A link to a node was opened: its process lives, whatever happened before. */
  onNodeReached(now: number, nodeId: number): void {
    this.#enter(now);
    this.#suspects.clear(nodeId);
    this.#leave();
  }

  /** A write of the object is about to be forwarded. */
  onWriteStarted(now: number, hash: Hash128): void {
    this.#enter(now);
    this.#knowledge.writeStarted(now, hash);
    this.#leave();
  }

  /** The write was answered, or nobody knows: call it before the client hears of it. */
  onWriteFinished(now: number, hash: Hash128, outcome: WriteOutcome): void {
    this.#enter(now);
    this.#knowledge.writeFinished(now, hash, outcome);
    this.#leave();
  }

  /** A newer ring: reads that are out stay where they are, later ones follow it. */
  onRing(now: number, ring: Ring): void {
    this.#enter(now);
    this.#planner.ring = ring;
    this.#leave();
  }

  /** Buckets may have other policies now, or other origins: what homes said before counts no more. */
  onPoliciesChanged(now: number): void {
    this.#enter(now);
    this.#knowledge.forgetMetadata(now);
    this.#leave();
  }

  /** Call it once `nextDeadline()` has passed. */
  onTick(now: number): void {
    this.#enter(now);
    this.#suspects.expire(now);
    for (;;) {
      const read = this.#reads.overdue(now);
      if (read === null) break;
      assert(read.client !== null, 'a read that waits has a client');
      this.#stages.timeOut(read.client, read);
    }
    this.#leave();
  }

  /** The moment that `onTick` is due, Infinity when nothing waits. */
  nextDeadline(): number {
    return Math.min(this.#reads.deadline, this.#suspects.deadline);
  }

  levels(): GatewayLevels {
    return {
      clientReads: this.#exchanges.active,
      outstandingReads: this.#reads.inUse,
      untakenBytes: this.#reads.untakenBytes,
      suspects: this.#suspects.size,
      hotHints: this.#hints.count,
      metadataEntries: this.#knowledge.metadata.count,
      metadataBytes: this.#knowledge.metadata.bytes,
    };
  }

  #enter(now: number): void {
    assert(!this.#isInside, 'effects never call the gateway back');
    this.#isInside = true;
    this.#moment.now = now;
  }

  #leave(): void {
    this.#isInside = false;
  }
}
