/**
 * One node as a gateway sees it: a few multiplexed links for small answers, a pool of exclusive links for large ones, and a
 * pool of links for requests that are passed through.
 *
 * Links are opened when they are first needed and again after they were lost; a node that can't be reached fails reads at once
 * until the connect gate opens.
 *
 * A multiplexed link stands for the whole node. It is pinged when it falls silent. When it stays silent, or isn't let in, the node
 * **stands still**: all reads leave it, nothing waits for it, and until a multiplexed link is open again reads and requests go elsewhere
 * at once. Reads lose little by that, so they leave early. A request that is under way can't be sent elsewhere: it has until a new link
 * had the time for its handshake.
 */
import type { NodeMessage } from '@s3-accelerator/core/node-message.ts';
import type { ReadRequest } from '@s3-accelerator/core/read.ts';
import type { AskedForward, ForwardWay } from './asked-forward.ts';
import { ConnectGate } from './connect-gate.ts';
import { ExclusivePool } from './exclusive-pool.ts';
import { ForwardPool } from './forward-pool.ts';
import type { LinkContext } from './link-context.ts';
import type { PeerOptions } from './link-options.ts';
import { MultiplexedLink } from './multiplexed-link.ts';
import type { PendingRead, Reads } from './reads.ts';

/** What becomes known of the node. */
export interface PeerNews {
  /** Its process was heard of. */
  reached(): void;
  /** It says what stands for its buckets. */
  bucketMark(mark: number): void;
}

export class Peer implements ForwardWay {
  readonly host: string;
  readonly port: number;
  readonly #context: LinkContext;
  readonly #reads: Reads;
  readonly #options: PeerOptions;
  readonly #gate: ConnectGate;
  readonly #multiplexed: (MultiplexedLink | null)[];
  readonly #exclusive: ExclusivePool;
  readonly #forward: ForwardPool;
  readonly #news: PeerNews;
  #turn = 0;
  #wasReached = false;
  #isRetired = false;
  /** Since when it stands still; Infinity while it doesn't. */
  #stillSince = Infinity;
  /** Multiplexed links that the node takes no further reads on. */
  readonly #leaving = new Set<MultiplexedLink>();

  constructor(
    context: LinkContext,
    reads: Reads,
    host: string,
    port: number,
    options: PeerOptions,
    news: PeerNews,
  ) {
    this.#news = news;
    this.#context = context;
    this.#reads = reads;
    this.host = host;
    this.port = port;
    this.#options = options;
    this.#gate = new ConnectGate(options.minBackoffMs, options.maxBackoffMs);
    this.#multiplexed = new Array<MultiplexedLink | null>(options.multiplexedLinks).fill(null);
    this.#exclusive = new ExclusivePool(context, reads, this.#gate, host, port, options);
    this.#forward = new ForwardPool(context, this.#gate, host, port, options);
  }

  /** Exclusive links that are open or opening. */
  get exclusiveLinks(): number {
    return this.#exclusive.size;
  }

  /** Whether the node can be asked right now; opens a link to find out when there is none. */
  reaches(): boolean {
    this.#takeMultiplexed();
    return this.#multiplexed.some((link) => link?.serving === true);
  }

  /** Sends a read on the kind of link that fits its answer. */
  send(pending: PendingRead, request: ReadRequest): void {
    const link = this.#takeMultiplexed();
    if (this.#standsStill) this.#reads.failLater(pending, 'peer');
    else if (pending.bodyLimit > this.#options.smallAnswerBytes)
      this.#exclusive.send(pending, request);
    else if (link === null) this.#reads.failLater(pending, 'peer');
    else link.send(pending, request);
  }

  /** Tells the node something, if it can be reached. */
  sendMessage(message: NodeMessage): void {
    const link = this.#takeMultiplexed();
    if (!this.#standsStill) link?.sendMessage(message);
  }

  take(asked: AskedForward): void {
    this.#takeMultiplexed();
    if (this.#standsStill) asked.goOn(`${this.host}:${this.port} does not answer`);
    else this.#forward.take(asked);
  }

  withdraw(asked: AskedForward): void {
    this.#forward.withdraw(asked);
  }

  /** It is no member any more: nothing new is sent to it, and no link opened that nobody waits for. */
  retire(): void {
    this.#isRetired = true;
  }

  /** Whether nothing is under way here. */
  get isIdle(): boolean {
    const links = [...this.#multiplexed, ...this.#leaving];
    const isSilent = links.every((link) => link === null || !this.#reads.uses(link));
    return isSilent && this.#exclusive.isIdle && this.#forward.isIdle;
  }

  /** Called at a steady pace. */
  watch(now: number): void {
    this.#exclusive.watch(now);
    // A node that was lost is connected to again whether somebody asks for it or not: nobody asks a suspect.
    if (this.#wasReached && !this.#isRetired) this.#takeMultiplexed();
    for (const link of this.#multiplexed) {
      if (link === null) continue;
      if (link.hasSpoken) this.#news.reached();
      const verdict = link.watch();
      if (verdict === 'slow') this.#standStill(now);
      else if (verdict === 'silent') this.#loseReads(now);
    }
    if (now - this.#stillSince >= this.#context.options.handshakeMs) this.#forward.closeLinks();
  }

  /** Ends all links; reads on them fail. */
  close(): void {
    this.#exclusive.close();
    this.#forward.close();
    for (const link of [...this.#multiplexed, ...this.#leaving]) link?.close();
  }

  onMultiplexedOpen(): void {
    this.#gate.succeeded();
    this.#stillSince = Infinity;
    this.#wasReached = true;
    this.#news.reached();
  }

  onBucketMark(mark: number): void {
    this.#news.bucketMark(mark);
  }

  onMultiplexedLeaving(link: MultiplexedLink): void {
    this.#forget(link);
    this.#leaving.add(link);
  }

  onMultiplexedLost(link: MultiplexedLink, served: boolean): void {
    this.#forget(link);
    this.#leaving.delete(link);
    const now = performance.now();
    if (link.isLate) this.#standStill(now);
    if (!served) this.#gate.failed(now, Math.random());
  }

  #forget(link: MultiplexedLink): void {
    const at = this.#multiplexed.indexOf(link);
    if (at >= 0) this.#multiplexed[at] = null;
  }

  get #standsStill(): boolean {
    return this.#stillSince < Infinity;
  }

  /** From now on nothing waits for it, and what does wait goes elsewhere. */
  #standStill(now: number): void {
    if (this.#standsStill) return;
    this.#stillSince = now;
    for (const link of this.#multiplexed) link?.failWaiting();
    this.#exclusive.failWaiting();
    this.#forward.failWaiting();
  }

  /** It fell silent: all reads leave it. */
  #loseReads(now: number): void {
    this.#context.faults.warn(
      `link-silent ${this.host}:${this.port}`,
      `${this.host}:${this.port} stopped answering: reads leave it`,
      { peer: `${this.host}:${this.port}` },
    );
    this.#standStill(now);
    this.#gate.failed(now, Math.random());
    for (const link of [...this.#multiplexed, ...this.#leaving]) link?.close();
    this.#exclusive.closeLinks();
  }

  /** The next multiplexed link, opened if need be; null when the node may not be connected to now. */
  #takeMultiplexed(): MultiplexedLink | null {
    this.#turn = this.#turn + 1 === this.#multiplexed.length ? 0 : this.#turn + 1;
    const link = this.#multiplexed[this.#turn];
    if (link != null) return link;
    if (!this.#gate.isOpen(performance.now())) return null;
    const opened = new MultiplexedLink(
      this.#context,
      this.#reads,
      this,
      this.host,
      this.port,
      this.#options.smallAnswerBytes,
    );
    this.#multiplexed[this.#turn] = opened;
    return opened;
  }
}
