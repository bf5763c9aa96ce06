/**
 * What a node fetches, as its driver carries it out: from other nodes here, over the links that gateways use, and from S3 by way
 * of origin-fetches.ts.
 *
 * A fetch that brought nothing may be started anew elsewhere under its id, so what is still on its way for the first is known by
 * its own record.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type {
  Asker,
  FetchId,
  FetchRequest,
  NodeEffects,
} from '@s3-accelerator/core/node/effects.ts';
import { newReadAnswer, type ReadAnswer, type ReadRequest } from '@s3-accelerator/core/read.ts';
import type { Link, LinkEnd } from './network.ts';
import type { FetchEvents, OriginFetches } from './origin-fetches.ts';
import { ReadTransfer, type AnswerTaker, type ReadTaker } from './read-transfer.ts';
import type { Surroundings } from './surroundings.ts';

type FetchEffects = Pick<
  NodeEffects,
  'startFetch' | 'startPeerFetch' | 'receiveInto' | 'receiveDirect' | 'cancelFetch'
>;

export interface PeerFetchEvents extends FetchEvents {
  onPeerAnswer(fetch: FetchId, answer: ReadAnswer): void;
}

/** Where a node is, and its present life; null while it is down. */
export interface PeerPlace {
  readonly place: number;
  readonly run: (LinkEnd & ReadTaker) | null;
}

export interface PeerFetchesOptions {
  readonly world: Surroundings;
  readonly events: PeerFetchEvents;
  readonly memory: Uint8Array;
  readonly origin: OriginFetches;
  /** By node id. */
  readonly nodes: readonly PeerPlace[];
  /** The node that asks, at its end of links. */
  readonly end: LinkEnd;
}

interface OpenFetch {
  readonly transfer: ReadTransfer;
  place: number;
  room: number;
}

export class PeerFetches implements FetchEffects, AnswerTaker {
  readonly #options: PeerFetchesOptions;
  readonly #open = new Map<FetchId, OpenFetch>();
  readonly #links: (Link | null)[];

  constructor(options: PeerFetchesOptions) {
    this.#options = options;
    this.#links = options.nodes.map(() => null);
  }

  /** Requests that are out, to nodes and to S3. */
  get size(): number {
    return this.#open.size + this.#options.origin.size;
  }

  /** The process is over. */
  stop(): void {
    this.#options.origin.stop();
    for (const { transfer } of this.#open.values()) transfer.isOver = true;
    this.#open.clear();
  }

  linkLost(link: Link): void {
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
    const { world } = this.#options;
    const { link, run } = this.#linkTo(nodeId);
    const transfer = new ReadTransfer(id, request, link, run, this, world.queue.now);
    this.#open.set(id, { transfer, place: 0, room: 0 });
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
    this.#end(id, transfer);
    const { link, node, toNode } = transfer;
    this.#options.world.network.toNode(link, toNode, () => node?.cancel(transfer));
  }

  onAnswer(transfer: ReadTransfer, answer: ReadAnswer): void {
    const id = transfer.read;
    transfer.isAnnounced = true;
    transfer.bodyLength = answer.bodyLength;
    if (answer.bodyLength === 0) this.#end(id, transfer);
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
    this.#end(id, transfer);
    events.onFetchEnd(id, isComplete ? 'complete' : 'broken');
  }

  #linkTo(nodeId: number): { readonly link: Link; readonly run: ReadTaker | null } {
    const { world, nodes, end } = this.#options;
    const { run, place } = nodes[nodeId]!;
    const known = this.#links[nodeId];
    if (known?.gatewayHasIt === true) {
      return { link: known, run: known.node === run ? run : null };
    }
    const { network } = world;
    const link = run === null ? network.refuse(end, place) : network.connect(end, run);
    this.#links[nodeId] = link;
    return { link, run };
  }

  #end(id: FetchId, transfer: ReadTransfer): void {
    transfer.isOver = true;
    this.#open.delete(id);
  }
}
