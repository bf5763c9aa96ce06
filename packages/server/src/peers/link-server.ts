/**
 * A node's side of all links: listens, lets in whoever holds the cluster secret, gives each link to what it is for, and tells
 * those that ask what nobody asked: of another ring, of other buckets, and that this node leaves.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionId, ListenerId, Reactor } from '@s3-accelerator/native/reactor.ts';
import { encodeBucketMark } from '@s3-accelerator/protocol/bucket-mark.ts';
import { FrameType } from '@s3-accelerator/protocol/frame.ts';
import type { LinkPurpose } from '@s3-accelerator/protocol/handshake.ts';
import type { FaultLog } from '../log.ts';
import type { ForwardPort } from '../passthrough/forward.ts';
import { ForwardAnswerer } from './forward-answerer.ts';
import { LinkContext, type LinkRing } from './link-context.ts';
import { AnsweringHandshake, fullRefusal } from './link-handshake.ts';
import type { LinkServerOptions } from './link-options.ts';
import type { LinkUser } from './link.ts';
import { Link } from './link.ts';
import { ReadAnswerer } from './read-answerer.ts';
import { ServedReads, type NodeReads } from './served-reads.ts';

/** How often a server that drains looks whether its links are gone. */
const drainTickMs = 10;

/** Where a link server runs, and where what comes over its links goes. */
export interface LinkServerContext {
  readonly reactor: Reactor;
  readonly faults: FaultLog;
  readonly reads: NodeReads;
  readonly forwardPort: ForwardPort;
}

export class LinkServer {
  /** What was asked over the links: its answers leave here. */
  readonly reads: ServedReads;
  readonly #context: LinkContext;
  readonly #options: LinkServerOptions;
  readonly #forwardPort: ForwardPort;
  readonly #links = new Set<Link>();
  /** Those among them that haven't proven the secret yet, the oldest first. */
  readonly #strangers = new Set<Link>();
  readonly #listeners: ListenerId[] = [];
  #linksRefused = 0;
  #bucketMark = 0;
  #isDraining = false;

  constructor(
    { reactor, faults, reads, forwardPort }: LinkServerContext,
    options: LinkServerOptions,
  ) {
    this.#context = new LinkContext(reactor, options, faults);
    this.#options = options;
    this.#forwardPort = forwardPort;
    this.reads = new ServedReads(this.#context, reads, options);
  }

  /** Set by the composition: the ring that answers are marked with, and that askers get. */
  set ring(ring: LinkRing) {
    this.#context.ring = ring;
  }

  get links(): number {
    return this.#links.size;
  }

  /** Links that were refused because there were too many. */
  get linksRefused(): number {
    return this.#linksRefused;
  }

  /** Listens on a numeric address; returns the port. Throws the reactor's error when it can't. */
  listen(host: string, port: number): number {
    const listening = this.#context.reactor.listen(host, port, 1024, (id) => this.#accept(id));
    this.#listeners.push(listening.listener);
    return listening.port;
  }

  /** Takes no further links; those that are open go on. */
  stopListening(): void {
    for (const listener of this.#listeners.splice(0)) this.#context.reactor.stopListening(listener);
  }

  /**
   * Takes no further links, and asks the other ends to end theirs once what is under way on them is answered. Resolves when all are
   * gone, or after `withinMs`: `close` then ends what is left.
   */
  async drain(withinMs: number): Promise<void> {
    this.stopListening();
    this.#isDraining = true;
    for (const link of this.#links) {
      if (link.serving) link.sendBareFrame(FrameType.leaving, 0);
    }
    const end = performance.now() + withinMs;
    while (this.#links.size > 0 && performance.now() < end) await sleep(drainTickMs);
  }

  /** Stops listening and ends all links; answers that are complete still leave, reads without one are cancelled. */
  close(): void {
    this.stopListening();
    for (const link of [...this.#links]) link.end();
  }

  // — telling

  /** The ring is another one now: who follows it over these links is told so, and asks. */
  ringChanged(): void {
    const { mark } = this.#context.ring;
    for (const link of this.#multiplexed()) link.sendBareFrame(FrameType.pong, 0, mark);
  }

  /** What stands for this node's buckets now (protocol/bucket-mark.ts), 0 while nobody knows: told to all that ask, now and as they come. */
  tellBucketMark(mark: number): void {
    this.#bucketMark = mark;
    for (const link of this.#multiplexed()) this.#sendBucketMark(link);
  }

  #sendBucketMark(link: Link): void {
    if (this.#bucketMark !== 0) link.sendBytes(encodeBucketMark(this.#bucketMark));
  }

  /** Whoever asks has a link of these, and hears on it what it didn't ask for. */
  #multiplexed(): Link[] {
    return [...this.#links].filter(({ user }) => user instanceof ReadAnswerer && !user.exclusive);
  }

  // — letting in

  #accept(id: ConnectionId): Link {
    const link = Link.answer(
      this.#context,
      id,
      new AnsweringHandshake(this.#options.secret),
      this.#doorman,
    );
    this.#links.add(link);
    this.#strangers.add(link);
    if (this.#links.size > this.#options.maxLinks) {
      this.#linksRefused += 1;
      // Whoever holds the secret proves it at once: places are not for those that only connect.
      const [oldest = link] = this.#strangers;
      oldest.sendBytes(fullRefusal());
      oldest.end();
    }
    return link;
  }

  /** The user of links that aren't open yet. */
  readonly #doorman: LinkUser = {
    onOpen: (link, purpose) => {
      this.#strangers.delete(link);
      link.user = this.#userFor(link, purpose);
      link.user.onOpen(link, purpose);
      // Before any answer: what is told later holds by it.
      if (purpose === 'multiplexed') this.#sendBucketMark(link);
      // It connected just before the server stopped listening.
      if (this.#isDraining) link.sendBareFrame(FrameType.leaving, 0);
    },
    onLost: (link) => {
      this.#strangers.delete(link);
      this.#links.delete(link);
    },
    onFrame: () => undefined,
    onBody: () => undefined,
    onSent: () => undefined,
    onRelayed: () => undefined,
  };

  #userFor(link: Link, purpose: LinkPurpose): LinkUser {
    const { idleMs } = this.#options;
    const onLost = (): void => void this.#links.delete(link);
    if (purpose === 'forward') {
      return new ForwardAnswerer(this.#context, this.#forwardPort, idleMs, onLost);
    }
    this.#context.reactor.deadline(link.id, idleMs);
    const exclusive = purpose === 'exclusive';
    return new ReadAnswerer(this.#context, this.reads, { link, exclusive, onLost });
  }
}
