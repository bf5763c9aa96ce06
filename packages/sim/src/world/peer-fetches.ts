/**
 * What a node fetches, as its driver carries it out: from other nodes here, over the links that gateways use, and from S3 by way
 * of origin-fetches.ts.
 *
 * A fetch that brought nothing may be started anew elsewhere under its id, so what is still on its way for the first is known by
 * its own record.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import type {
  Asker,
  FetchId,
  FetchRequest,
  NodeEffects,
} from '@s3-accelerator/core/node/effects.ts';
import { newReadAnswer, type ReadAnswer, type ReadRequest } from '@s3-accelerator/core/read.ts';
import type { Store } from '@s3-accelerator/core/store/store.ts';
import type { PeerAsk } from '../history/peer-ask.ts';
import type { Link, LinkEnd } from './network.ts';
import type { MessageTaker } from './message-taker.ts';
import type { FetchEvents, OriginFetches } from './origin-fetches.ts';
import { ReadTransfer, type AnswerTaker, type ReadTaker } from './read-transfer.ts';
import { RingQuestions, type RingAsker, type RingTeller } from './ring-questions.ts';
import type { Surroundings } from './surroundings.ts';

type FetchEffects = Pick<
  NodeEffects,
  'startFetch' | 'startPeerFetch' | 'receiveInto' | 'receiveDirect' | 'cancelFetch'
>;

export interface PeerFetchEvents extends FetchEvents {
  onPeerAnswer(fetch: FetchId, answer: ReadAnswer): void;
}

/** A node as others reach it. */
export type PeerRun = LinkEnd & ReadTaker & RingTeller & MessageTaker & { readonly store: Store };

/** Where a node is, and its present life; null while it is down. */
export interface PeerPlace {
  readonly place: number;
  readonly run: PeerRun | null;
  /** The present life as long as it lets new links in. */
  readonly listener: PeerRun | null;
}

export interface PeerFetchesOptions {
  readonly world: Surroundings;
  readonly events: PeerFetchEvents;
  readonly memory: Uint8Array;
  readonly origin: OriginFetches;
  /** By node id. */
  readonly nodes: readonly PeerPlace[];
  /** The node that asks, at its end of links, and what it knows of rings. */
  readonly end: LinkEnd;
  readonly rings: RingAsker;
  readonly nodeId: number;
  readonly life: number;
}

interface OpenFetch {
  readonly transfer: ReadTransfer;
  readonly ask: PeerAsk;
  place: number;
  room: number;
}

export class PeerFetches implements FetchEffects, AnswerTaker {
  readonly #options: PeerFetchesOptions;
  readonly #open = new Map<FetchId, OpenFetch>();
  readonly #links: (Link | null)[] = [];
  /** Blocks that another node began to send. */
  readonly #brought = new Set<string>();
  readonly #questions: RingQuestions;

  constructor(options: PeerFetchesOptions) {
    const { world, rings } = options;
    this.#options = options;
    this.#questions = new RingQuestions(world.queue, world.network, rings);
  }

  /** Requests that are out, to nodes and to S3. */
  get size(): number {
    return this.#open.size + this.#options.origin.size;
  }

  /** Whether the block that begins at `first` came from another node, at least its beginning; asked once for each that came. */
  hasBrought(version: Readonly<Hash128>, first: number): boolean {
    return this.#brought.delete(nameOf(version, first));
  }

  /** The process is over. */
  stop(): void {
    this.#options.origin.stop();
    for (const [id, fetch] of this.#open) this.#end(id, fetch, 'givenUp');
  }

  /** Opens links to these, where there are none and somebody listens. */
  openLinks(nodeIds: readonly number[]): void {
    const { nodes } = this.#options;
    for (const nodeId of nodeIds) if (nodes[nodeId]!.listener !== null) this.linkTo(nodeId);
  }

  /** The node at the other end has shown its ring. */
  ringShown(link: Link, version: number): void {
    this.#questions.shown(link, version);
  }

  uses(link: Link): boolean {
    for (const { transfer } of this.#open.values()) if (transfer.link === link) return true;
    return false;
  }

  linkLost(link: Link): void {
    this.#questions.lost(link);
    const nodeId = this.#links.indexOf(link);
    if (nodeId >= 0) this.#links[nodeId] = null;
    for (const { transfer } of [...this.#open.values()]) {
      if (transfer.link !== link || transfer.isOver) continue;
      if (transfer.isAnnounced) this.onBreak(transfer);
      else this.onAnswer(transfer, newReadAnswer());
    }
  }

  startFetch(id: FetchId, request: FetchRequest): void {
    this.#options.origin.startFetch(id, request);
  }

  startPeerFetch(id: FetchId, nodeId: number, request: ReadRequest): void {
    assert(!this.#open.has(id), 'a fetch is out at one node at a time');
    const { world, rings } = this.#options;
    const { link, run } = this.linkTo(nodeId);
    const { now } = world.queue;
    const transfer = new ReadTransfer(id, nodeId, request, link, run, this, now, rings.version());
    this.#open.set(id, { transfer, ask: this.#record(nodeId, request), place: 0, room: 0 });
    world.network.toNode(link, transfer.toNode, () => run?.take(transfer));
  }

  receiveInto(id: FetchId, place: number, length: number): void {
    const fetch = this.#open.get(id);
    if (fetch === undefined) {
      this.#options.origin.receiveInto(id, place, length);
      return;
    }
    assert(fetch.transfer.isAnnounced && fetch.room === 0, 'one place at a time, after the answer');
    fetch.place = place;
    fetch.room = length;
    // What arrived meanwhile goes on once this effect's event has returned.
    this.#options.world.queue.in(0, () => {
      this.#bring(id, fetch);
    });
  }

  receiveDirect(id: FetchId, asker: Asker): void {
    this.#options.origin.receiveDirect(id, asker);
  }

  cancelFetch(id: FetchId): void {
    const fetch = this.#open.get(id);
    if (fetch === undefined) {
      this.#options.origin.cancelFetch(id);
      return;
    }
    const { transfer } = fetch;
    this.#end(id, fetch, 'givenUp');
    const { link, node, toNode } = transfer;
    this.#options.world.network.toNode(link, toNode, () => node?.cancel(transfer));
  }

  onAnswer(transfer: ReadTransfer, answer: ReadAnswer): void {
    const id = transfer.read;
    const fetch = this.#open.get(id);
    assert(fetch?.transfer === transfer, 'only what is out is answered');
    transfer.isAnnounced = true;
    transfer.bodyLength = answer.bodyLength;
    if (endOf(answer) !== 'failed') fetch.ask.answeredAt = this.#options.world.queue.now;
    if (answer.bodyLength === 0) this.#end(id, fetch, endOf(answer));
    const { version, first } = transfer.request;
    if (answer.kind === 'bytes') this.#brought.add(nameOf(version, first));
    this.#options.events.onPeerAnswer(id, answer);
  }

  onBytes(transfer: ReadTransfer, bytes: Uint8Array): void {
    transfer.arrived.push(bytes);
    this.#bringOf(transfer);
  }

  onBreak(transfer: ReadTransfer): void {
    transfer.hasBrokenOff = true;
    this.#bringOf(transfer);
  }

  #bringOf(transfer: ReadTransfer): void {
    const fetch = this.#open.get(transfer.read);
    if (fetch?.transfer === transfer) this.#bring(transfer.read, fetch);
  }

  /** Moves what has arrived to where the core has room for it, and tells it when that was all. */
  #bring(id: FetchId, fetch: OpenFetch): void {
    const { memory, events } = this.#options;
    const { transfer } = fetch;
    const { arrived } = transfer;
    for (let bytes = arrived.shift(); bytes !== undefined; bytes = arrived.shift()) {
      const count = Math.min(bytes.length, fetch.room);
      if (count < bytes.length) arrived.unshift(bytes.subarray(count));
      if (count === 0) break;
      memory.set(bytes.subarray(0, count), fetch.place);
      fetch.place += count;
      fetch.room -= count;
      transfer.queuedBytes += count;
      events.onFetchBytes(id, count);
      if (transfer.isOver) return;
    }
    if (transfer.isOver) return;
    const isComplete = transfer.queuedBytes === transfer.bodyLength;
    if (!isComplete && (!transfer.hasBrokenOff || arrived.length > 0)) return;
    this.#end(id, fetch, isComplete ? 'served' : 'failed');
    events.onFetchEnd(id, isComplete ? 'complete' : 'broken');
  }

  /** The link to another node, made if need be; `run` is null where nobody listens. */
  /** The link to another node, made if need be; `run` is null where nobody listens. */
  linkTo(nodeId: number): { readonly link: Link; readonly run: PeerRun | null } {
    const { world, nodes, end } = this.#options;
    const { run, listener, place } = nodes[nodeId]!;
    const known = this.#links[nodeId];
    if (known?.gatewayHasIt === true && !known.isLeaving) {
      return { link: known, run: known.node === run ? run : null };
    }
    const { network } = world;
    const link = listener === null ? network.refuse(end, place) : network.connect(end, listener);
    this.#links[nodeId] = link;
    if (listener !== null) this.#questions.opened(link, listener);
    return { link, run: listener };
  }

  #end(id: FetchId, { transfer, ask }: OpenFetch, end: PeerAsk['end']): void {
    transfer.isOver = true;
    this.#open.delete(id);
    ask.end = end;
    ask.endedAt = this.#options.world.queue.now;
  }

  #record(peer: number, { kind, bucket, key, etag, first }: ReadRequest): PeerAsk {
    const { world, nodeId: node, life } = this.#options;
    const isBlock = kind === 'blocks';
    return world.history.peerAsked({
      ...{ node, life, peer, bucket, key },
      etag: isBlock ? etag : '',
      first: isBlock ? first : -1,
      askedAt: world.queue.now,
      answeredAt: Infinity,
      end: 'open',
      endedAt: Infinity,
    });
  }
}

function nameOf({ h0, h1, h2, h3 }: Readonly<Hash128>, first: number): string {
  return `${h0} ${h1} ${h2} ${h3} ${first}`;
}

function endOf({ kind, failure }: ReadAnswer): PeerAsk['end'] {
  if (kind !== 'failure') return 'served';
  return failure === 'peer' ? 'failed' : 'absent';
}
