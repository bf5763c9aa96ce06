/**
 * One life of a gateway's process: the core's machine, and a driver in parts that carries out its effects over the models.
 *
 * A request goes as in the program: grants first, then what the cache can't answer passes through to S3 by the object's home,
 * and the rest is the core's.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import { newClientRequest } from '@s3-accelerator/core/gateway/client-request.ts';
import type { GatewayEffects } from '@s3-accelerator/core/gateway/effects.ts';
import { Gateway } from '@s3-accelerator/core/gateway/gateway.ts';
import type { WriteOutcome } from '@s3-accelerator/core/gateway/knowledge.ts';
import type { GatewayLimits } from '@s3-accelerator/core/gateway/limits.ts';
import type { WriteEpochs } from '@s3-accelerator/core/gateway/write-epochs.ts';
import type { Layout } from '@s3-accelerator/core/layout.ts';
import type { ReadRequest } from '@s3-accelerator/core/read.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import { parseRange } from '@s3-accelerator/core/s3/byte-range.ts';
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import { noPreconditions } from '@s3-accelerator/core/s3/preconditions.ts';
import type { ClientAnswer } from '../history/client-answer.ts';
import type { ProcessState } from '../history/views.ts';
import { nameOf } from '../oracle/oracle.ts';
import { noConditions } from '../oracle/request.ts';
import { traced } from '../trace.ts';
import { gatewayEffectNames } from './effect-names.ts';
import { Exchanges, type Exchange } from './exchanges.ts';
import { GatewayCluster } from './gateway-cluster.ts';
import type { Link, LinkEnd } from './network.ts';
import type { NodeHost } from './node-host.ts';
import type { NodeRun } from './node-run.ts';
import type { Pass } from './pass.ts';
import { PassedRead } from './passed-read.ts';
import type { ProcessClock } from './process-clock.ts';
import { gatewayState } from './process-states.ts';
import type { ReadTransfer } from './read-transfer.ts';
import { ReadTransfers } from './read-transfers.ts';
import type { Surroundings } from './surroundings.ts';
import { Ticker } from './ticker.ts';

export type { Exchange } from './exchanges.ts';

export interface GatewayRunOptions {
  readonly world: Surroundings;
  readonly clock: ProcessClock;
  readonly layout: Layout;
  /** Node ids that the configuration names. */
  readonly named: readonly number[];
  /** How long rings that were replaced are kept. */
  readonly windowMs: number;
  readonly limits: GatewayLimits;
  /** Of the process: its loops share them. */
  readonly epochs: WriteEpochs;
  readonly nodes: readonly NodeHost[];
  /** The node in the same process, null for none. */
  readonly beside: NodeHost | null;
  readonly gatewayId: number;
  readonly life: number;
  /** Which of the loops of its process this is: 0 for the first. */
  readonly loop: number;
  /** The loop that wrote each object last, for all loops of the process to see. */
  readonly writers: Map<string, number>;
  readonly place: number;
  readonly processId: number;
  /** How wrong the clock runs, at most. */
  readonly maxDrift: number;
  /** What a client's kernel takes to accept what was sent. */
  readonly clientDelayMs: () => number;
}

/** What becomes of a read besides what it asks for. */
export interface ReadWay {
  /** What the client's grants say: null when they allow it. */
  readonly refusal: ErrorCode | null;
  /** It holds something that the cache doesn't understand. */
  readonly passes: boolean;
  readonly stallMs: number;
}

const utf8 = new TextEncoder();

export class GatewayRun implements LinkEnd {
  readonly place: number;
  readonly processId: number;
  readonly gateway: Gateway;
  /** Clients' requests that pass through. */
  readonly passes = new Set<Pass>();
  readonly exchanges: Exchanges;
  readonly transfers: ReadTransfers;
  readonly cluster: GatewayCluster;
  isOver = false;
  readonly #options: GatewayRunOptions;
  readonly #ticker: Ticker;
  readonly #asked = newClientRequest();
  /** Reads that the present tick cancelled after their time. */
  #lateReads = 0;

  constructor(options: GatewayRunOptions) {
    const { world, clock, layout, limits, epochs, gatewayId, life, nodes, clientDelayMs } = options;
    const { queue, trace } = world;
    this.#options = options;
    this.place = options.place;
    this.processId = options.processId;
    const cluster = new GatewayCluster(options);
    this.cluster = cluster;
    const afterEvent = (): void => {
      this.#ticker.afterEvent();
    };
    this.exchanges = new Exchanges({
      world,
      clientDelayMs,
      onTaken: (exchange) => {
        if (this.isOver) return;
        this.gateway.onTaken(this.#clock, exchange);
        afterEvent();
      },
      onPass: (exchange) => {
        this.#pass(exchange);
      },
    });
    this.transfers = new ReadTransfers({
      world,
      nodes,
      end: this,
      rings: cluster.isFollowed ? cluster : null,
      ringVersion: () => cluster.version(),
      gateway: () => this.gateway,
      now: () => this.#clock,
      onBody: (exchange, bytes) => {
        this.exchanges.bytesCame(exchange, bytes);
      },
      onNodeFailed: (node) => {
        this.#nodeFailed(node);
      },
      onStandIn: (nodeId, request) => {
        this.#standInAsked(nodeId, request);
      },
      onCancelledByTick: (transfer) => {
        this.#nodeFailed(transfer.nodeId);
        this.#cancelledByTick(transfer);
      },
      afterEvent,
    });
    const drivers = [this.exchanges, this.transfers];
    const who =
      options.loop === 0 ? `gateway ${gatewayId}` : `gateway ${gatewayId} loop ${options.loop}`;
    this.gateway = new Gateway({
      effects: traced<GatewayEffects>(drivers, gatewayEffectNames, trace, who, queue),
      layout,
      ring: cluster.ring.current,
      limits,
      epochs,
      seed: world.seed + life,
    });
    const machine = {
      nextDeadline: (): number => this.gateway.nextDeadline(),
      onTick: (now: number): void => {
        this.#tick(now);
      },
    };
    this.#ticker = new Ticker(queue, clock, machine, () => world.timerLatenessMs());
    cluster.follow(this.transfers, (ring) => {
      if (!this.isOver) this.#placeBy(ring);
    });
  }

  get gatewayId(): number {
    return this.#options.gatewayId;
  }

  get life(): number {
    return this.#options.life;
  }

  /** A client's GET or HEAD. */
  read(record: ClientAnswer, { refusal, passes, stallMs }: ReadWay, onEnd: () => void): Exchange {
    const { world } = this.#options;
    const exchange = this.exchanges.begin(record, stallMs, onEnd);
    if (refusal !== null) {
      world.situations.arose('request denied');
      this.exchanges.refuse(exchange, refusal);
    } else if (passes) {
      this.#pass(exchange);
    } else {
      this.#ask(exchange);
    }
    return exchange;
  }

  /** The client closes its connection. */
  leave(exchange: Exchange): void {
    if (this.isOver || !this.exchanges.isOpen(exchange)) return;
    const { pass } = exchange;
    this.#options.world.situations.arose('client left');
    this.exchanges.end(exchange, 'gone');
    if (pass !== null) {
      pass.clientGone();
      return;
    }
    this.gateway.onClientGone(this.#clock, exchange.id);
    this.#ticker.afterEvent();
  }

  /** A write is about to be sent on. */
  writeStarted(bucket: string, key: string): void {
    const hash = { ...this.#options.world.identities.hashOf(bucket, key) };
    this.gateway.onWriteStarted(this.#clock, hash);
    this.#options.beside?.run?.noteWrite(bucket, key, 'started');
  }

  /** Before the client hears of it. */
  writeFinished(bucket: string, key: string, outcome: WriteOutcome): void {
    const hash = { ...this.#options.world.identities.hashOf(bucket, key) };
    this.gateway.onWriteFinished(this.#clock, hash, outcome);
    this.#options.writers.set(nameOf(bucket, key), this.#options.loop);
    this.#options.beside?.run?.noteWrite(bucket, key, 'finished');
  }

  /** The node that keeps an object's metadata, by the ring that the gateway has; -1 where that has no members. */
  homeOf(bucket: string, key: string): number {
    return this.cluster.homesOf(this.#options.world.identities.hashOf(bucket, key))[0] ?? -1;
  }

  /**
   * The link to an object's home, or to the next candidate that can be reached, as its request passes through there; `run` is null
   * where nobody listens.
   */
  linkToHome(bucket: string, key: string): { link: Link; run: NodeRun | null } {
    const { world, nodes } = this.#options;
    const ranked = this.cluster.homesOf(world.identities.hashOf(bucket, key));
    const open = ranked.find((nodeId) => nodes[nodeId]!.listener !== null) ?? ranked[0];
    return open === undefined ? this.transfers.noWay() : this.transfers.linkTo(open);
  }

  onRingShown(link: Link, version: number): void {
    if (!this.isOver) this.transfers.ringShown(link, version);
  }

  usesLink(link: Link): boolean {
    if (this.transfers.uses(link)) return true;
    for (const pass of this.passes) if (pass.link === link) return true;
    return false;
  }

  onLinkLost(link: Link): void {
    if (this.isOver) return;
    this.transfers.linkLost(link);
    for (const pass of [...this.passes]) if (pass.link === link) pass.lostAtGateway();
  }

  /** The process ends, whatever it was doing. */
  end(): void {
    assert(!this.isOver, 'a process ends once');
    this.isOver = true;
    this.#ticker.stop();
    this.cluster.stop();
    this.transfers.stop();
    this.exchanges.stop();
    for (const pass of [...this.passes]) pass.gatewayEnded();
    this.#options.world.network.endAll(this);
  }

  state(): ProcessState {
    const { limits, layout, nodes } = this.#options;
    return gatewayState(this, limits, layout.blockBytes, nodes.length);
  }

  get #clock(): number {
    return this.#options.clock.now;
  }

  #placeBy(ring: Ring): void {
    const { world, gatewayId: id, life, loop } = this.#options;
    world.situations.arose('ring change mid-read', this.exchanges.size);
    this.gateway.onRing(this.#clock, ring);
    this.#ticker.afterEvent();
    world.ringAdopted({ process: 'gateway', id, life, loop }, ring);
  }

  #ask(exchange: Exchange): void {
    const { world, limits, loop, writers } = this.#options;
    const { request } = exchange.record;
    const { bucket, key, range, conditions } = request;
    const writer = writers.get(nameOf(bucket, key)) ?? loop;
    if (writer !== loop) world.situations.arose('read of what another loop wrote');
    const asked = this.#asked;
    asked.head = request.head;
    asked.bucket = bucket;
    asked.key = key;
    Object.assign(asked.hash, world.identities.hashOf(bucket, key));
    const header = utf8.encode(range ?? '');
    parseRange(header, 0, header.length, asked.range);
    asked.conditions = conditions === noConditions ? noPreconditions : conditions;
    if (this.gateway.levels().clientReads === limits.maxReads) {
      world.situations.arose('gateway full');
      this.#noteFault('full', request);
    }
    this.gateway.onRequest(this.#clock, exchange.id, asked);
    this.#ticker.afterEvent();
  }

  /** Once the core's event is over: a pass may fail at once, and nothing calls the core back. */
  #pass(exchange: Exchange): void {
    const { world } = this.#options;
    const pass = new PassedRead(world, this, exchange);
    exchange.pass = pass;
    world.queue.in(0, () => {
      if (this.exchanges.isOpen(exchange) && !this.isOver) pass.start();
    });
  }

  /** Reads that run out are cancelled: each must have had its time. */
  #tick(now: number): void {
    const { counters } = this.gateway;
    const { timeouts } = counters;
    this.#lateReads = 0;
    this.transfers.tick(now);
    const timedOut = counters.timeouts - timeouts;
    assert(timedOut <= this.#lateReads, 'no read times out early');
    this.#options.world.situations.arose('read timed out', timedOut);
  }

  #cancelledByTick({ sentAt, request }: ReadTransfer): void {
    const { limits, world, maxDrift } = this.#options;
    const waited = (world.queue.now - sentAt) * (1 + maxDrift);
    // Those that go with another piece of their client's haven't waited as long.
    if (waited < limits.readTimeoutMs - 0.01) return;
    this.#lateReads += 1;
    this.#noteFault('a read took too long', request);
  }

  #nodeFailed(node: number): void {
    const { world, gatewayId: gateway, life: gatewayLife } = this.#options;
    world.checkers.nodeFailed({ gateway, gatewayLife, node, at: world.queue.now });
  }

  #standInAsked(node: number, request: ReadRequest): void {
    const { world, gatewayId: gateway, life: gatewayLife } = this.#options;
    const ranked = [...this.cluster.ownersOf(request)];
    const at = world.queue.now;
    world.checkers.standInAsked({ gateway, gatewayLife, node, ranked, at });
  }

  #noteFault(what: string, { bucket, key }: { bucket: string; key: string }): void {
    const { world, gatewayId: gateway } = this.#options;
    const { now } = world.queue;
    world.history.faultBegan({
      what: `gateway ${gateway}: ${what}`,
      from: now,
      until: now,
      gateway,
      object: nameOf(bucket, key),
    });
  }
}
