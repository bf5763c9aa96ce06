/**
 * A test node's questions to other nodes: they travel as a gateway's reads do, and their bytes end in the fill memory. What is still on
 * its way for a fetch that was cut is known by its own record, since the fetch may go on elsewhere under its id.
 */
import { assert } from '../base/assert.ts';
import type { FetchEnd, FetchId } from '../node/effects.ts';
import type { ReadAnswer, ReadRequest } from '../read.ts';
import { Transfer, type TransferEvents } from './transfer.ts';

/** What becomes of them. */
export interface PeerFetchEvents {
  onPeerAnswer(id: FetchId, answer: ReadAnswer): void;
  /** Bytes of a body, no more than there is room for. */
  onPeerBytes(id: FetchId, bytes: Uint8Array, memory: number): void;
  onPeerEnd(id: FetchId, end: FetchEnd): void;
}

/** The way to the other nodes. */
export interface PeerWay {
  askNode(transfer: Transfer): void;
  cancelAtNode(transfer: Transfer): void;
}

interface OpenFetch {
  readonly transfer: Transfer;
  place: number;
  room: number;
}

export class PeerFetches implements TransferEvents {
  readonly #way: PeerWay;
  readonly #events: PeerFetchEvents;
  readonly #open = new Map<FetchId, OpenFetch>();
  /** Changes what other nodes answer. */
  #falsify: (answer: ReadAnswer) => void = () => undefined;

  constructor(way: PeerWay, events: PeerFetchEvents) {
    this.#way = way;
    this.#events = events;
  }

  get size(): number {
    return this.#open.size;
  }

  has(id: FetchId): boolean {
    return this.#open.has(id);
  }

  start(id: FetchId, nodeId: number, request: ReadRequest): void {
    assert(!this.#open.has(id), 'a fetch is out at one node at a time');
    assert(request.onlyHeld, 'nodes ask each other for what they hold');
    const transfer = new Transfer(id, request, nodeId, this);
    this.#open.set(id, { transfer, place: 0, room: 0 });
    this.#way.askNode(transfer);
  }

  receiveInto(id: FetchId, memory: number, length: number): void {
    const fetch = this.#open.get(id);
    assert(fetch?.transfer.isAnnounced === true, 'bytes are received after the answer');
    assert(fetch.room === 0, 'one place at a time');
    fetch.place = memory;
    fetch.room = length;
  }

  cancel(id: FetchId): void {
    const fetch = this.#open.get(id);
    assert(fetch !== undefined, 'only a fetch that is out is cancelled');
    this.#open.delete(id);
    fetch.transfer.isCancelled = true;
    this.#way.cancelAtNode(fetch.transfer);
  }

  /** From now on every answer is changed by this before it arrives. */
  falsify(change: (answer: ReadAnswer) => void): void {
    this.#falsify = change;
  }

  /** The process is gone. */
  forgetAll(): void {
    for (const { transfer } of this.#open.values()) transfer.isCancelled = true;
    this.#open.clear();
  }

  answerArrives(transfer: Transfer, answer: ReadAnswer): void {
    this.#falsify(answer);
    transfer.isAnnounced = true;
    if (answer.bodyLength === 0) this.#open.delete(transfer.read);
    this.#events.onPeerAnswer(transfer.read, answer);
  }

  bytesArrive(transfer: Transfer, bytes: Uint8Array): void {
    const id = transfer.read;
    const fetch = this.#open.get(id);
    assert(fetch?.transfer === transfer, 'what was cut arrives nowhere');
    assert(bytes.length <= fetch.room, 'there is room for a whole block once it was asked for');
    const { place } = fetch;
    fetch.place += bytes.length;
    fetch.room -= bytes.length;
    transfer.queuedBytes += bytes.length;
    this.#events.onPeerBytes(id, bytes, place);
    if (transfer.queuedBytes === transfer.promised) this.#end(transfer, 'complete');
  }

  breakArrives(transfer: Transfer): void {
    this.#end(transfer, 'broken');
  }

  #end(transfer: Transfer, end: FetchEnd): void {
    if (transfer.isCancelled) return;
    this.#open.delete(transfer.read);
    this.#events.onPeerEnd(transfer.read, end);
  }
}
