/**
 * Where the next bytes of each fetch go, as the core said with `receiveInto` or `receiveDirect`.
 *
 * A fetch without a place reads no further: that is the back-pressure from the core to S3.
 */
import type { Asker, FetchId } from '@s3-accelerator/core/node/effects.ts';

export interface Place {
  /** Offset in the fill memory of the next byte, and how many may still come there. */
  memory: number;
  room: number;
  /** The asker whose answer gets the bytes as they come, past the memory; -1 for none. */
  direct: Asker;
}

export class FillPlaces {
  readonly #places = new Map<FetchId, Place>();

  into(fetch: FetchId, memory: number, length: number): void {
    const place = this.#of(fetch);
    place.memory = memory;
    place.room = length;
  }

  direct(fetch: FetchId, asker: Asker): void {
    this.#of(fetch).direct = asker;
  }

  get(fetch: FetchId): Place | null {
    return this.#places.get(fetch) ?? null;
  }

  forget(fetch: FetchId): void {
    this.#places.delete(fetch);
  }

  #of(fetch: FetchId): Place {
    let place = this.#places.get(fetch);
    if (place === undefined) {
      place = { memory: 0, room: 0, direct: -1 };
      this.#places.set(fetch, place);
    }
    return place;
  }
}
