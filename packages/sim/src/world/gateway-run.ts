/**
 * One life of a gateway's process: the core's gateway machine and a driver that carries out its effects over the models. What
 * clients see goes into the history as it happens.
 *
 * The driver's part of a request is here as the program does it: grants first, then what the cache can't answer passes
 * through to S3 by the object's home, and the rest is the core's.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import { newClientRequest } from '@s3-accelerator/core/gateway/client-request.ts';
import type { ExchangeId, GatewayEffects, ReadId } from '@s3-accelerator/core/gateway/effects.ts';
import { Gateway } from '@s3-accelerator/core/gateway/gateway.ts';
import type { WriteOutcome } from '@s3-accelerator/core/gateway/knowledge.ts';
import type { GatewayLimits } from '@s3-accelerator/core/gateway/limits.ts';
import type { Layout } from '@s3-accelerator/core/layout.ts';
import { ownerOf, placeHome } from '@s3-accelerator/core/placement.ts';
import {
  newReadAnswer,
  type ObjectMetadata,
  type OriginError,
  type ReadAnswer,
  type ReadRequest,
} from '@s3-accelerator/core/read.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import { parseRange } from '@s3-accelerator/core/s3/byte-range.ts';
import { s3Errors, type ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { noPreconditions } from '@s3-accelerator/core/s3/preconditions.ts';
import type { AnswerEnd, ClientAnswer } from '../history/client-answer.ts';
import { nameOf } from '../oracle/oracle.ts';
import { noConditions } from '../oracle/request.ts';
import { traced } from '../trace.ts';
import { gatewayEffectNames } from './effect-names.ts';
import { gatewayState } from './process-states.ts';
import type { ProcessState } from '../history/views.ts';
import type { Link, LinkEnd } from './network.ts';
import type { NodeHost } from './node-host.ts';
import type { NodeRun } from './node-run.ts';
import { requestOfError } from './origin.ts';
import type { Pass } from './pass.ts';
import { PassedRead } from './passed-read.ts';
import type { ProcessClock } from './process-clock.ts';
import { ReadTransfer, type AnswerTaker } from './read-transfer.ts';
import type { Surroundings } from './surroundings.ts';
import { Ticker } from './ticker.ts';

export interface GatewayRunOptions {
  readonly world: Surroundings;
  readonly clock: ProcessClock;
  readonly layout: Layout;
  readonly ring: Ring;
  readonly limits: GatewayLimits;
  readonly nodes: readonly NodeHost[];
  readonly gatewayId: number;
  readonly life: number;
  readonly place: number;
  /** How wrong the clock runs, at most. */
  readonly maxDrift: number;
  /** What a client's kernel takes to accept what was sent. */
  readonly clientDelayMs: () => number;
}

/** One read of a client, from its request to the end of its answer. */
export interface Exchange {
  readonly id: ExchangeId;
  readonly record: ClientAnswer;
  /** The client doesn't read for the next so many milliseconds. */
  readonly stallMs: number;
  readonly onEnd: () => void;
  pass: PassedRead | null;
  hasStalled: boolean;
}

/** What becomes of a read besides what it asks for. */
export interface ReadWay {
  /** What the client's grants say: null when they allow it. */
  readonly refusal: ErrorCode | null;
  /** It holds something that the cache doesn't understand. */
  readonly passes: boolean;
  readonly stallMs: number;
}

const rangeBytes = new TextEncoder();

export class GatewayRun implements GatewayEffects, LinkEnd, AnswerTaker {
  readonly place: number;
  readonly gateway: Gateway;
  /** Clients' requests that pass through. */
  readonly passes = new Set<Pass>();
  readonly exchanges = new Map<ExchangeId, Exchange>();
  isOver = false;
  readonly #options: GatewayRunOptions;
  readonly #ticker: Ticker;
  readonly #transfers = new Map<ReadId, ReadTransfer>();
  readonly #links: (Link | null)[];
  readonly #asked = newClientRequest();
  /** The machine looks at its deadlines: what it cancels now has taken too long. */
  #isTicking = false;
  #exchanges = 0;

  constructor(options: GatewayRunOptions) {
    const { world, layout, ring, limits, gatewayId, life } = options;
    const { queue, trace } = world;
    this.#options = options;
    this.place = options.place;
    this.#links = options.nodes.map(() => null);
    this.gateway = new Gateway({
      effects: traced<GatewayEffects>(
        this,
        gatewayEffectNames,
        trace,
        `gateway ${gatewayId}`,
        queue,
      ),
      layout,
      ring,
      limits,
      seed: world.seed + life,
    });
    const machine = {
      nextDeadline: (): number => this.gateway.nextDeadline(),
      onTick: (now: number): void => {
        this.#tick(now);
      },
    };
    this.#ticker = new Ticker(queue, options.clock, machine, () => world.timerLatenessMs());
  }

  get gatewayId(): number {
    return this.#options.gatewayId;
  }

  get life(): number {
    return this.#options.life;
  }

  /** Reads that are out. */
  get transfers(): number {
    return this.#transfers.size;
  }

  // What clients do.

  /** A client's GET or HEAD. */
  read(record: ClientAnswer, { refusal, passes, stallMs }: ReadWay, onEnd: () => void): Exchange {
    this.#exchanges += 1;
    const { request } = record;
    const id = this.#exchanges;
    const exchange: Exchange = { id, record, stallMs, onEnd, pass: null, hasStalled: false };
    this.exchanges.set(id, exchange);
    if (refusal !== null) {
      this.#options.world.situations.arose('request denied');
      this.answerWithError(exchange, refusal);
      return exchange;
    }
    if (passes) {
      this.#pass(exchange);
      return exchange;
    }
    const asked = this.#asked;
    asked.head = request.head;
    asked.bucket = request.bucket;
    asked.key = request.key;
    Object.assign(asked.hash, this.#options.world.identities.hashOf(request.bucket, request.key));
    const range = rangeBytes.encode(request.range ?? '');
    parseRange(range, 0, range.length, asked.range);
    asked.conditions = request.conditions === noConditions ? noPreconditions : request.conditions;
    if (this.gateway.levels().clientReads === this.#options.limits.maxReads) {
      this.#options.world.situations.arose('gateway full');
      this.#noteFault('full', request.bucket, request.key);
    }
    this.gateway.onRequest(this.#clock, id, asked);
    this.#ticker.afterEvent();
    return exchange;
  }

  /** The client closes its connection. */
  leave(exchange: Exchange): void {
    if (this.isOver || !this.exchanges.has(exchange.id)) return;
    const { pass } = exchange;
    this.#options.world.situations.arose('client left');
    this.#endExchange(exchange, 'gone');
    if (pass !== null) {
      pass.clientGone();
      return;
    }
    this.gateway.onClientGone(this.#clock, exchange.id);
    this.#ticker.afterEvent();
  }

  writeStarted(bucket: string, key: string): void {
    const hash = { ...this.#options.world.identities.hashOf(bucket, key) };
    this.gateway.onWriteStarted(this.#clock, hash);
  }

  writeFinished(bucket: string, key: string, outcome: WriteOutcome): void {
    const hash = { ...this.#options.world.identities.hashOf(bucket, key) };
    this.gateway.onWriteFinished(this.#clock, hash, outcome);
  }

  state(): ProcessState {
    return gatewayState(this, this.#options.limits);
  }

  /** The process ends, whatever it was doing: clients find their connections broken. */
  end(): void {
    assert(!this.isOver, 'a process ends once');
    this.isOver = true;
    this.#ticker.stop();
    for (const transfer of this.#transfers.values()) transfer.isOver = true;
    this.#transfers.clear();
    for (const exchange of [...this.exchanges.values()]) this.#endExchange(exchange, 'cut');
    for (const pass of [...this.passes]) pass.gatewayEnded();
    this.#options.world.network.endAll(this);
  }

  // What comes over links.

  /** The link to an object's home, as its request passes through there; `run` is null where nobody listens. */
  linkToHome(bucket: string, key: string): { link: Link; run: NodeRun | null } {
    const placement = { hi: 0, lo: 0 };
    placeHome(this.#options.world.identities.hashOf(bucket, key), placement);
    const home = ownerOf(this.#options.ring, placement);
    const link = this.#linkTo(home);
    const { run } = this.#options.nodes[home]!;
    return { link, run: run === link.node ? run : null };
  }

  onLinkLost(link: Link): void {
    if (this.isOver) return;
    for (const [nodeId, other] of this.#links.entries()) {
      if (other === link) this.#links[nodeId] = null;
    }
    for (const transfer of [...this.#transfers.values()]) {
      if (transfer.link !== link || transfer.isOver) continue;
      if (transfer.isAnnounced) this.onBreak(transfer);
      else this.onAnswer(transfer, newReadAnswer());
    }
    for (const pass of [...this.passes]) if (pass.link === link) pass.lostAtGateway();
  }

  onAnswer(transfer: ReadTransfer, answer: ReadAnswer): void {
    transfer.isAnnounced = true;
    transfer.bodyLength = answer.bodyLength;
    if (answer.bodyLength === 0) this.#endTransfer(transfer);
    this.gateway.onAnswer(this.#clock, transfer.read, answer);
    assert(
      transfer.relayedTo >= 0 || transfer.isOver,
      'a body that is announced is relayed or cancelled at once',
    );
    this.#relay(transfer);
    this.#ticker.afterEvent();
  }

  onBytes(transfer: ReadTransfer, bytes: Uint8Array): void {
    transfer.arrived.push(bytes);
    this.#relay(transfer);
    this.#ticker.afterEvent();
  }

  onBreak(transfer: ReadTransfer): void {
    transfer.hasBrokenOff = true;
    const { retries } = this.gateway.counters;
    this.#relay(transfer);
    this.#ticker.afterEvent();
    if (this.gateway.counters.retries > retries) {
      this.#options.world.situations.arose('failover mid-answer');
    }
  }

  // Effects.

  sendRead(read: ReadId, nodeId: number, request: ReadRequest): void {
    assert(!this.#transfers.has(read), 'a read is sent once');
    const link = this.#linkTo(nodeId);
    const { world, nodes } = this.#options;
    const { run } = nodes[nodeId]!;
    const node = run === link.node ? run : null;
    const transfer = new ReadTransfer(read, request, link, node, this, world.queue.now);
    this.#transfers.set(read, transfer);
    world.network.toNode(link, transfer.toNode, () => node?.take(transfer));
  }

  cancelRead(read: ReadId): void {
    const transfer = this.#transfers.get(read);
    assert(transfer !== undefined, 'only a read that is out is cancelled');
    this.#endTransfer(transfer);
    if (this.#isTicking) this.#noteTimeout(transfer);
    const { link, node, toNode } = transfer;
    this.#options.world.network.toNode(link, toNode, () => node?.cancel(transfer));
  }

  answerHead(
    exchange: ExchangeId,
    status: 200 | 206 | 304,
    metadata: ObjectMetadata,
    first: number,
    length: number,
  ): void {
    const { record } = this.#unanswered(exchange);
    record.status = status;
    record.answeredAt = this.#now;
    record.etag = metadata.etag;
    record.lastModified = metadata.lastModified;
    record.size = metadata.size;
    record.first = first;
    record.length = length;
  }

  relayBody(exchange: ExchangeId, read: ReadId): void {
    this.#open(exchange);
    const transfer = this.#transfers.get(read);
    assert(transfer?.isAnnounced === true && !transfer.isOver, 'relays what was announced');
    assert(transfer.relayedTo < 0, 'a body is relayed once');
    transfer.relayedTo = exchange;
  }

  awaitTaken(exchange: ExchangeId): void {
    const open = this.#open(exchange);
    const stall = open.hasStalled ? 0 : open.stallMs;
    open.hasStalled = true;
    this.#options.world.queue.in(this.#options.clientDelayMs() + stall, () => {
      if (this.isOver || !this.exchanges.has(exchange)) return;
      this.gateway.onTaken(this.#clock, exchange);
      this.#ticker.afterEvent();
    });
  }

  finish(exchange: ExchangeId): void {
    const open = this.#open(exchange);
    const { status, request, received, length } = open.record;
    const hasBody = status !== 304 && !request.head;
    assert(!hasBody || received === length, 'a finished answer is whole');
    this.#endExchange(open, 'finished');
  }

  abort(exchange: ExchangeId): void {
    const open = this.#open(exchange);
    assert(open.record.status !== 0, 'only a begun answer is aborted');
    this.#endExchange(open, 'cut');
  }

  answerError(exchange: ExchangeId, code: ErrorCode, metadata: ObjectMetadata | null): void {
    const { record } = this.#unanswered(exchange);
    if (metadata !== null) record.size = metadata.size;
    this.answerWithError(this.#unanswered(exchange), code);
  }

  answerOriginError(exchange: ExchangeId, error: OriginError): void {
    const open = this.#unanswered(exchange);
    const { record } = open;
    record.status = error.status;
    record.code = error.code;
    record.errorOf = requestOfError(error);
    record.answeredAt = this.#now;
    this.#endExchange(open, 'finished');
  }

  passThrough(exchange: ExchangeId): void {
    this.#pass(this.#unanswered(exchange));
  }

  /** Answers with one of S3's errors, nothing sent before. */
  answerWithError(exchange: Exchange, code: ErrorCode): void {
    const { record } = exchange;
    record.status = s3Errors[code].status;
    record.code = code;
    record.answeredAt = this.#now;
    this.#endExchange(exchange, 'finished');
  }

  /** An exchange that passed through is over. */
  passEnded(exchange: Exchange, end: AnswerEnd): void {
    this.#endExchange(exchange, end);
  }

  get #clock(): number {
    return this.#options.clock.now;
  }

  get #now(): number {
    return this.#options.world.queue.now;
  }

  #tick(now: number): void {
    this.#isTicking = true;
    this.gateway.onTick(now);
    this.#isTicking = false;
  }

  #noteTimeout({ sentAt, request }: ReadTransfer): void {
    const { limits, world, maxDrift } = this.#options;
    const waited = (this.#now - sentAt) * (1 + maxDrift);
    assert(waited > limits.readTimeoutMs - 0.01, 'no read times out early');
    world.situations.arose('read timed out');
    this.#noteFault('a read took too long', request.bucket, request.key);
  }

  /** Once the core's event is over: a pass may fail at once, and nothing calls the core back. */
  #pass(exchange: Exchange): void {
    const { world } = this.#options;
    const pass = new PassedRead(world, this, exchange);
    exchange.pass = pass;
    world.queue.in(0, () => {
      if (this.exchanges.has(exchange.id) && !this.isOver) pass.start();
    });
  }

  #linkTo(nodeId: number): Link {
    const known = this.#links[nodeId];
    if (known?.gatewayHasIt === true) return known;
    const { network } = this.#options.world;
    const host = this.#options.nodes[nodeId]!;
    const link =
      host.run === null ? network.refuse(this, host.place) : network.connect(this, host.run);
    this.#links[nodeId] = link;
    return link;
  }

  #open(id: ExchangeId): Exchange {
    const exchange = this.exchanges.get(id);
    assert(exchange !== undefined, 'effects are for open exchanges');
    return exchange;
  }

  #unanswered(id: ExchangeId): Exchange {
    const exchange = this.#open(id);
    assert(exchange.record.status === 0, 'nothing was sent before');
    return exchange;
  }

  #endExchange(exchange: Exchange, end: AnswerEnd): void {
    this.exchanges.delete(exchange.id);
    exchange.record.end = end;
    exchange.record.endedAt = this.#now;
    this.#options.world.checkers.answerEnded(exchange.record);
    exchange.onEnd();
  }

  /** Moves what has arrived to the client, and tells the core when that was all. */
  #relay(transfer: ReadTransfer): void {
    const { relayedTo, arrived, read } = transfer;
    if (relayedTo < 0 || transfer.isOver) return;
    const { record } = this.#open(relayedTo);
    for (let bytes = arrived.shift(); bytes !== undefined; bytes = arrived.shift()) {
      assert(record.received + bytes.length <= record.length, 'no more than the head promised');
      this.#options.world.history.bytesCame(record, bytes);
      transfer.queuedBytes += bytes.length;
    }
    const { queuedBytes } = transfer;
    if (queuedBytes === transfer.bodyLength) {
      this.#endTransfer(transfer);
      this.gateway.onBodyQueued(this.#clock, relayedTo, read);
    } else if (transfer.hasBrokenOff) {
      this.#endTransfer(transfer);
      this.gateway.onBodyFailed(this.#clock, relayedTo, read, queuedBytes);
    }
  }

  #endTransfer(transfer: ReadTransfer): void {
    transfer.isOver = true;
    this.#transfers.delete(transfer.read);
  }

  #noteFault(what: string, bucket: string, key: string): void {
    const { gatewayId: gateway } = this;
    const now = this.#now;
    this.#options.world.history.faultBegan({
      what: `gateway ${gateway}: ${what}`,
      from: now,
      until: now,
      gateway,
      object: nameOf(bucket, key),
    });
  }
}
