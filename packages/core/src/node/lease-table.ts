/**
 * Leases by placement: found without allocating, and bounded. Also in the order in which they came, for the rare walk over all.
 *
 * Memory: about 300 bytes a lease.
 */
import type { Hash128, U64 } from '../base/hash.ts';
import { Lru } from '../base/lru.ts';

export interface Leased {
  readonly placement: Readonly<U64>;
}

export class LeaseTable<L extends Leased> {
  readonly all = new Set<L>();
  readonly #byPlacement: Lru<L>;
  readonly #key: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };

  constructor(maxLeases: number, seed: number) {
    this.#byPlacement = new Lru(maxLeases, Infinity, seed);
  }

  get size(): number {
    return this.#byPlacement.count;
  }

  get isFull(): boolean {
    return this.#byPlacement.count === this.#byPlacement.maxEntries;
  }

  /** The lease of a placement, null when there is none. */
  find(hi: number, lo: number): L | null {
    if (this.#byPlacement.count === 0) return null;
    return this.#byPlacement.peek(this.#keyOf(hi, lo));
  }

  /** Files a lease of a placement that has none, in a table that isn't full. */
  add(lease: L): void {
    const { hi, lo } = lease.placement;
    this.#byPlacement.set(this.#keyOf(hi, lo), lease, 0);
    this.all.add(lease);
  }

  delete(lease: L): void {
    const { hi, lo } = lease.placement;
    this.#byPlacement.delete(this.#keyOf(hi, lo));
    this.all.delete(lease);
  }

  #keyOf(hi: number, lo: number): Hash128 {
    this.#key.h0 = hi;
    this.#key.h1 = lo;
    return this.#key;
  }
}
