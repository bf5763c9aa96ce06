/** A node's requests to S3, as its driver carries them out: each answer's head, then its bytes as the core has room. */
import type { Layout } from '@s3-accelerator/core/layout.ts';
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type {
  Asker,
  FetchEnd,
  FetchHead,
  FetchId,
  FetchRequest,
  NodeEffects,
} from '@s3-accelerator/core/node/effects.ts';
import type { OriginError } from '@s3-accelerator/core/read.ts';
import type { OriginEnd, OriginRequest } from '../history/origin-request.ts';
import type { MovedFill } from '../history/peer-ask.ts';
import { noConditions, type S3Read } from '../oracle/request.ts';
import type { OriginAnswer } from './origin.ts';
import type { Surroundings } from './surroundings.ts';

/** Whom the fetches report to. */
export interface FetchEvents {
  onFetchHead(fetch: FetchId, head: FetchHead): void;
  onFetchBytes(fetch: FetchId, count: number): void;
  onFetchEnd(fetch: FetchId, end: FetchEnd): void;
  onFetchFailed(fetch: FetchId, error: OriginError | null): void;
  /** Bytes for an asker, past the memory. */
  onDirectBytes(asker: Asker, bytes: Uint8Array): void;
}

export interface FetchesOptions {
  readonly world: Surroundings;
  readonly layout: Layout;
  readonly events: FetchEvents;
  readonly memory: Uint8Array;
  readonly node: number;
  readonly life: number;
  /** Previous owners that hold the first block of a request right now. */
  readonly holdersOf: (request: FetchRequest) => readonly number[];
  /** When the node learned of a ring last. */
  readonly learnedAt: () => number;
}

interface OpenFetch {
  readonly record: OriginRequest;
  answer: OriginAnswer | null;
  /** How much of the body has come. */
  position: number;
  place: number;
  room: number;
  direct: Asker;
  /** What it brings is held elsewhere, and nothing has said yet that it must come past the memory. */
  moved: MovedFill | null;
  isReceiving: boolean;
}

const noAsker: Asker = -1;

type FetchEffects = Pick<
  NodeEffects,
  'startFetch' | 'receiveInto' | 'receiveDirect' | 'cancelFetch'
>;

export class OriginFetches implements FetchEffects {
  readonly #options: FetchesOptions;
  readonly #open = new Map<FetchId, OpenFetch>();

  constructor(options: FetchesOptions) {
    this.#options = options;
  }

  /** Requests that are out. */
  get size(): number {
    return this.#open.size;
  }

  startFetch(id: FetchId, request: FetchRequest): void {
    assert(!this.#open.has(id), 'a fetch is started once');
    const { world, node, life } = this.#options;
    const { history, queue, origin, checkers } = world;
    const record = history.originAsked({
      node,
      life,
      kind: 'fetch',
      request: readOf(request),
      sentAt: queue.now,
    });
    const fetch: OpenFetch = {
      record,
      answer: null,
      position: 0,
      place: 0,
      room: 0,
      direct: noAsker,
      moved: this.#movedFill(request),
      isReceiving: false,
    };
    this.#open.set(id, fetch);
    checkers.originAsked(record);
    queue.in(origin.delayMs(), () => {
      // A request that was cut may still be read, and decides nothing.
      const answer = origin.decide(record);
      queue.in(origin.delayMs(), () => {
        this.#headArrives(id, fetch, answer);
      });
    });
  }

  receiveInto(id: FetchId, place: number, length: number): void {
    const fetch = this.#flowing(id);
    assert(fetch.room === 0, 'one place at a time');
    const { moved } = fetch;
    fetch.moved = null;
    if (moved !== null) this.#options.world.checkers.movedFill(moved);
    fetch.place = place;
    fetch.room = length;
    this.#receive(id, fetch);
  }

  receiveDirect(id: FetchId, asker: Asker): void {
    const fetch = this.#flowing(id);
    fetch.direct = asker;
    this.#receive(id, fetch);
  }

  cancelFetch(id: FetchId): void {
    const fetch = this.#open.get(id);
    assert(fetch !== undefined, 'only a fetch that is out is cancelled');
    this.#end(id, fetch, 'cut');
  }

  /** The process is over: its requests are cut. */
  stop(): void {
    for (const [id, fetch] of this.#open) this.#end(id, fetch, 'cut');
  }

  #movedFill(request: FetchRequest): MovedFill | null {
    const { world, layout, node, life, holdersOf, learnedAt } = this.#options;
    const { bucket, key, ifMatch: etag } = request;
    const holders = etag === '' ? [] : holdersOf(request);
    if (holders.length === 0) return null;
    // The previous owner is asked for whole blocks, S3 perhaps for the rest of one.
    const first = layout.blockStart(layout.blockOf(request.first));
    const times = { sentAt: world.queue.now, learnedAt: learnedAt() };
    return { node, life, bucket, key, etag, first, ...times, holders };
  }

  #flowing(id: FetchId): OpenFetch {
    const fetch = this.#open.get(id);
    assert(fetch?.answer != null, 'bytes are received after the head');
    return fetch;
  }

  #isOpen(id: FetchId, fetch: OpenFetch): boolean {
    return this.#open.get(id) === fetch;
  }

  #end(id: FetchId, { record }: OpenFetch, end: OriginEnd): void {
    this.#open.delete(id);
    record.end = end;
    record.endedAt = this.#options.world.queue.now;
  }

  #headArrives(id: FetchId, fetch: OpenFetch, answer: OriginAnswer): void {
    if (!this.#isOpen(id, fetch)) return;
    const { events } = this.#options;
    const { head } = answer;
    if (head === null) {
      this.#end(id, fetch, 'unreachable');
      events.onFetchFailed(id, null);
      return;
    }
    fetch.answer = answer;
    events.onFetchHead(id, head);
    if (head.length !== 0 || !this.#isOpen(id, fetch)) return;
    this.#end(id, fetch, 'answered');
    events.onFetchEnd(id, 'complete');
  }

  /** Brings the next bytes as far as there is room for them, some time later. */
  #receive(id: FetchId, fetch: OpenFetch): void {
    if (fetch.isReceiving) return;
    fetch.isReceiving = true;
    const { queue, origin } = this.#options.world;
    queue.in(origin.delayMs() / 4, () => {
      if (!this.#isOpen(id, fetch)) return;
      fetch.isReceiving = false;
      this.#bring(id, fetch);
      if (!this.#isOpen(id, fetch)) return;
      const { body, breaksOff } = fetch.answer!;
      if (fetch.position === body.length) {
        this.#end(id, fetch, breaksOff ? 'broken' : 'answered');
        this.#options.events.onFetchEnd(id, breaksOff ? 'broken' : 'complete');
      } else if (fetch.direct !== noAsker || fetch.room > 0) {
        this.#receive(id, fetch);
      }
    });
  }

  #bring(id: FetchId, fetch: OpenFetch): void {
    const { world, memory, events } = this.#options;
    const { originPrng: prng } = world;
    const { body } = fetch.answer!;
    const left = body.length - fetch.position;
    const room = fetch.direct === noAsker ? fetch.room : left;
    const most = Math.min(left, room);
    if (most === 0) return;
    const count = prng.chance(0.5) ? most : 1 + prng.below(most);
    const bytes = body.subarray(fetch.position, fetch.position + count);
    fetch.position += count;
    if (fetch.direct !== noAsker) {
      events.onDirectBytes(fetch.direct, bytes);
      return;
    }
    memory.set(bytes, fetch.place);
    fetch.place += count;
    fetch.room -= count;
    events.onFetchBytes(id, count);
  }
}

function readOf(request: FetchRequest): S3Read {
  const { bucket, key, headOnly, ifMatch, ifNoneMatch } = request;
  const conditions =
    ifMatch === '' && ifNoneMatch === ''
      ? noConditions
      : {
          ...noConditions,
          ifMatch: ifMatch === '' ? null : ifMatch,
          ifNoneMatch: ifNoneMatch === '' ? null : ifNoneMatch,
        };
  return { bucket, key, head: headOnly, range: rangeOf(request), conditions };
}

function rangeOf({ rangeKind, first, last }: FetchRequest): string | null {
  switch (rangeKind) {
    case 'none':
      return null;
    case 'bounded':
      return `bytes=${first}-${last}`;
    case 'from':
      return `bytes=${first}-`;
    case 'suffix':
      return `bytes=-${first}`;
  }
}
