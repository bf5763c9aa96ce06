/**
 * A test node's requests to the model of S3: heads and bodies come some time later, and bodies in pieces, as far as there is room.
 */
import { assert } from '../base/assert.ts';
import type { Asker, FetchEnd, FetchHead, FetchId, FetchRequest } from '../node/effects.ts';
import type { EventQueue } from './event-queue.ts';
import type { S3Answer, S3Model } from './s3-model.ts';

/** What becomes of them. */
export interface OriginFetchEvents {
  onOriginHead(id: FetchId, head: FetchHead): void;
  /** There was no answer at all. */
  onOriginFailed(id: FetchId): void;
  /** Bytes of a body for the fill memory, no more than there is room for. */
  onOriginBytes(id: FetchId, bytes: Uint8Array, memory: number): void;
  /** Bytes of a body that goes straight to one asker. */
  onDirectBytes(asker: Asker, bytes: Uint8Array): void;
  onOriginEnd(id: FetchId, end: FetchEnd): void;
}

/** The way to S3. */
export interface OriginWay {
  readonly queue: EventQueue;
  readonly s3: S3Model;
  /** How long the next message takes. */
  delayMs(): number;
  /** How many of `available` bytes come next, at least one. */
  chunkOf(available: number): number;
}

interface OpenFetch {
  readonly request: FetchRequest;
  answer: S3Answer | null;
  position: number;
  place: number;
  room: number;
  direct: Asker | null;
  isBusy: boolean;
}

export class OriginFetches {
  readonly #way: OriginWay;
  readonly #events: OriginFetchEvents;
  readonly #open = new Map<FetchId, OpenFetch>();

  constructor(way: OriginWay, events: OriginFetchEvents) {
    this.#way = way;
    this.#events = events;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Those that are out, in the order in which they were started. */
  ids(): FetchId[] {
    return [...this.#open.keys()];
  }

  has(id: FetchId): boolean {
    return this.#open.has(id);
  }

  start(id: FetchId, request: FetchRequest): void {
    assert(!this.#open.has(id), 'a fetch is started once');
    const fetch: OpenFetch = {
      request: { ...request },
      answer: null,
      position: 0,
      place: 0,
      room: 0,
      direct: null,
      isBusy: false,
    };
    this.#open.set(id, fetch);
    const { queue, s3 } = this.#way;
    queue.in(this.#way.delayMs(), () => {
      // What S3 answers is decided when it reads the request, not when the answer arrives.
      const answer = s3.answer(queue.now, fetch.request);
      queue.in(this.#way.delayMs(), () => this.#headArrives(id, fetch, answer));
    });
  }

  receiveInto(id: FetchId, memory: number, length: number): void {
    const fetch = this.#flowing(id);
    assert(fetch.room === 0, 'one place at a time');
    fetch.place = memory;
    fetch.room = length;
    this.#receive(id, fetch);
  }

  receiveDirect(id: FetchId, asker: Asker): void {
    const fetch = this.#flowing(id);
    fetch.direct = asker;
    this.#receive(id, fetch);
  }

  cancel(id: FetchId): void {
    assert(this.#open.delete(id), 'only a fetch that is out is cancelled');
  }

  /** The process is gone. */
  forgetAll(): void {
    this.#open.clear();
  }

  #flowing(id: FetchId): OpenFetch {
    const fetch = this.#open.get(id);
    assert(fetch?.answer != null, 'bytes are received after the head');
    return fetch;
  }

  #headArrives(id: FetchId, fetch: OpenFetch, answer: S3Answer): void {
    if (this.#open.get(id) !== fetch) return;
    const { head } = answer;
    if (head === null) {
      this.#open.delete(id);
      this.#events.onOriginFailed(id);
      return;
    }
    fetch.answer = answer;
    this.#events.onOriginHead(id, head);
    if (head.length === 0 && this.#open.get(id) === fetch) this.#end(id, fetch);
  }

  /** Brings the next bytes as far as there is room for them, some time later. */
  #receive(id: FetchId, fetch: OpenFetch): void {
    if (fetch.isBusy) return;
    fetch.isBusy = true;
    this.#way.queue.in(this.#way.delayMs(), () => {
      if (this.#open.get(id) !== fetch) return;
      fetch.isBusy = false;
      const { body } = fetch.answer!;
      const left = body.length - fetch.position;
      const room = fetch.direct === null ? fetch.room : left;
      if (left > 0 && room > 0) {
        const count = this.#way.chunkOf(Math.min(left, room));
        this.#bytesArrive(id, fetch, body.subarray(fetch.position, fetch.position + count));
      }
      if (this.#open.get(id) !== fetch) return;
      if (fetch.position === body.length) this.#end(id, fetch);
      else if (fetch.direct !== null || fetch.room > 0) this.#receive(id, fetch);
    });
  }

  #bytesArrive(id: FetchId, fetch: OpenFetch, bytes: Uint8Array): void {
    fetch.position += bytes.length;
    if (fetch.direct !== null) {
      this.#events.onDirectBytes(fetch.direct, bytes.slice());
      return;
    }
    const { place } = fetch;
    fetch.place += bytes.length;
    fetch.room -= bytes.length;
    this.#events.onOriginBytes(id, bytes, place);
  }

  #end(id: FetchId, fetch: OpenFetch): void {
    this.#open.delete(id);
    this.#events.onOriginEnd(id, fetch.answer!.breaksOff ? 'broken' : 'complete');
  }
}
