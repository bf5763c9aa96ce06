/**
 * The nodes of the ring as a gateway sees them: carries the core's reads to them and their answers back.
 *
 * The three methods mirror the gateway's effects; `PeerEvents` are its events. Like effects they return nothing and never
 * call back: what they cause is told afterwards.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { ReadId } from '@s3-accelerator/core/gateway/effects.ts';
import type { NodeMessage } from '@s3-accelerator/core/node-message.ts';
import type { ReadRequest } from '@s3-accelerator/core/read.ts';
import type { ConnectionId, Reactor } from '@s3-accelerator/native/reactor.ts';
import type { FaultLog } from '../log.ts';
import type { ForwardWay } from './asked-forward.ts';
import { BucketMarks } from './bucket-marks.ts';
import { LinkContext, type LinkRing } from './link-context.ts';
import type { PeerOptions } from './link-options.ts';
import { Peer, type PeerNews } from './peer.ts';
import type { BodySink, PeerEvents } from './reads.ts';
import { Reads } from './reads.ts';

/** Where a node listens for links. */
export interface PeerAddress {
  readonly nodeId: number;
  /** Numeric. */
  readonly host: string;
  readonly port: number;
}

export class Peers {
  readonly #context: LinkContext;
  readonly #options: PeerOptions;
  readonly #reads: Reads;
  readonly #events: PeerEvents;
  readonly #peers = new Map<number, Peer>();
  /** Those that aren't members any more, until nothing is under way at them. */
  readonly #retired = new Set<Peer>();
  readonly #bucketMarks = new BucketMarks();
  readonly #watch: ReturnType<typeof setInterval>;

  constructor(reactor: Reactor, options: PeerOptions, faults: FaultLog, events: PeerEvents) {
    this.#context = new LinkContext(reactor, options, faults);
    this.#options = options;
    this.#events = events;
    this.#reads = new Reads(events, options.maxReads);
    this.#watch = setInterval(() => {
      const now = performance.now();
      for (const peer of this.#peers.values()) peer.watch(now);
      for (const peer of this.#retired) this.#watchRetired(peer, now);
    }, options.pingMs);
    this.#watch.unref();
  }

  /** Set by the composition: the ring that this process places by, and follows if it says so. */
  set ring(ring: LinkRing) {
    this.#context.ring = ring;
  }

  /** Reads under way, cancelled ones whose answer is still to come included. */
  get readsUnderWay(): number {
    return this.#reads.underWay;
  }

  /** How often a read was refused because there were too many. */
  get readsRefused(): number {
    return this.#reads.refused;
  }

  /** Whether any node can be asked right now; opens links to find out. */
  reachesAny(): boolean {
    let reaches = false;
    for (const peer of this.#peers.values()) reaches = peer.reaches() || reaches;
    return reaches;
  }

  /** Makes these the nodes that can be asked. Others keep their links until what is under way there is over. */
  setMembers(members: readonly PeerAddress[]): void {
    const known = new Map(members.map((member) => [member.nodeId, member]));
    const gone: number[] = [];
    for (const [nodeId, peer] of this.#peers) {
      const member = known.get(nodeId);
      if (member?.host === peer.host && member.port === peer.port) continue;
      this.#peers.delete(nodeId);
      if (member === undefined) gone.push(nodeId);
      peer.retire();
      this.#retired.add(peer);
    }
    for (const peer of this.#retired) this.#closeIfIdle(peer);
    const outdating = gone.filter((nodeId) => this.#bucketMarks.left(nodeId));
    if (outdating.length > 0) this.#events.onBucketsChanged();
    for (const { nodeId, host, port } of members) {
      if (this.#peers.has(nodeId)) continue;
      const news: PeerNews = {
        reached: () => {
          this.#events.onNodeReached(nodeId);
        },
        bucketMark: (mark) => {
          if (this.#bucketMarks.said(nodeId, mark)) this.#events.onBucketsChanged();
        },
      };
      const peer = new Peer(this.#context, this.#reads, host, port, this.#options, news);
      this.#peers.set(nodeId, peer);
    }
  }

  /** Sends a read to a node. `onAnswer` follows, always, unless it is cancelled. */
  sendRead(read: ReadId, nodeId: number, request: ReadRequest): void {
    const pending = this.#reads.begin(read, request);
    if (pending === null) return;
    const peer = this.#peers.get(nodeId);
    if (peer === undefined) this.#reads.failLater(pending, 'peer');
    else peer.send(pending, request);
  }

  /** Tells a node something. It may arrive late or never. */
  sendMessage(nodeId: number, message: NodeMessage): void {
    this.#peers.get(nodeId)?.sendMessage(message);
  }

  /** Nobody waits for this read any more. No event follows for it. */
  cancelRead(read: ReadId): void {
    const pending = this.#reads.find(read);
    if (pending === null) this.#reads.withdraw(read);
    else if (pending.link === null) this.#reads.release(pending);
    else pending.link.drop(pending);
  }

  /** Sends an announced body to a client. `onBodyQueued` follows, or `onBodyFailed`. */
  relayBody(read: ReadId, client: ConnectionId): void {
    const pending = this.#reads.find(read);
    assert(pending !== null, 'a body is relayed once, after its announcement');
    if (pending.link !== null) {
      pending.link.relayBody(pending, client);
      return;
    }
    for (const bytes of pending.held) this.#context.reactor.writeBytes(client, bytes);
    this.#reads.finishBodyLater(pending);
  }

  /**
   * Hands a body that is being announced to this process itself, piece by piece, during this call or later. `onBodyQueued` follows, or
   * `onBodyFailed`.
   */
  takeBody(read: ReadId, sink: BodySink): void {
    const pending = this.#reads.find(read);
    assert(pending?.stage === 'announced' && pending.link !== null, 'a body is taken as it comes');
    pending.sink = sink;
    pending.link.takeBody(pending);
  }

  /** How requests that the cache doesn't answer reach a node; null when it is no member. */
  forwardWay(nodeId: number): ForwardWay | null {
    return this.#peers.get(nodeId) ?? null;
  }

  /** Ends all links. */
  close(): void {
    clearInterval(this.#watch);
    for (const peer of [...this.#peers.values(), ...this.#retired]) peer.close();
    this.#peers.clear();
    this.#retired.clear();
  }

  #watchRetired(peer: Peer, now: number): void {
    peer.watch(now);
    this.#closeIfIdle(peer);
  }

  #closeIfIdle(peer: Peer): void {
    if (!peer.isIdle) return;
    this.#retired.delete(peer);
    peer.close();
  }
}
