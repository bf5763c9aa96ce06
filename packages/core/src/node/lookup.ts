/**
 * Readers that want to know the same object, and the one request to S3 that is out for them.
 *
 * `sharers` are answered with what it brings; `later` ones came too late for that and share the next request.
 */
import type { Hash128 } from '../base/hash.ts';
import { Lru } from '../base/lru.ts';
import { LinkedList } from '../base/linked-list.ts';
import { NO_ID, SlotPool, type PoolId } from '../base/slot-pool.ts';
import type { ObjectMetadata } from '../read.ts';
import type { FetchId } from './effects.ts';
import type { Reader } from './reader.ts';

export class Lookup {
  id: PoolId = NO_ID;
  fetchId: FetchId = NO_ID;
  /** The version that S3 is asked to confirm, null when it is asked what there is. */
  known: ObjectMetadata | null = null;
  /** A write came in between: what the request brings isn't kept, and readers that come from now on don't share it. */
  isOvertaken = false;
  readonly sharers = new LinkedList<Reader>();
  readonly later = new LinkedList<Reader>();
}

/** The pool of lookups by object hash: at most one an object. */
export class Lookups {
  readonly #pool: SlotPool<Lookup>;
  readonly #byHash: Lru<Lookup>;

  constructor(maxLookups: number, seed: number) {
    this.#pool = new SlotPool(maxLookups, () => new Lookup());
    this.#byHash = new Lru(maxLookups, Infinity, seed);
  }

  get inUse(): number {
    return this.#pool.inUse;
  }

  /** The lookup of an object, null when there is none. */
  of(hash: Hash128): Lookup | null {
    return this.#byHash.peek(hash);
  }

  /** A lookup without readers for an object that has none, null when all are in use. */
  acquire(hash: Hash128): Lookup | null {
    const id = this.#pool.acquire();
    const lookup = this.#pool.get(id);
    if (lookup === null) return null;
    lookup.id = id;
    lookup.fetchId = NO_ID;
    lookup.known = null;
    lookup.isOvertaken = false;
    this.#byHash.set(hash, lookup, 0);
    return lookup;
  }

  release(hash: Hash128, lookup: Lookup): void {
    lookup.known = null;
    this.#byHash.delete(hash);
    this.#pool.release(lookup.id);
  }
}
