/**
 * Finds a record by a number that somebody else chose: the driver's name for an exchange or an asker.
 *
 * Open addressing with linear probing, sized once for a bounded pool, so that a hit's insert and delete allocate
 * nothing (a Map would rehash now and then). Such names carry the slot of a pool in their low bits, and pools use the same few
 * slots again and again: so do the positions here, which stay in the processor's cache. Deleting shifts the rest of the run back,
 * so there are no tombstones.
 *
 * Memory: 16 bytes for each of at least twice `maxEntries` positions.
 */
import { assert } from './assert.ts';

const empty = -1;

export class IdTable<T> {
  readonly #ids: Float64Array;
  readonly #records: (T | null)[];
  readonly #mask: number;
  readonly #maxEntries: number;
  #size = 0;

  constructor(maxEntries: number) {
    let positions = 8;
    while (positions < maxEntries * 2) positions *= 2;
    this.#ids = new Float64Array(positions).fill(empty);
    this.#records = new Array<T | null>(positions).fill(null);
    this.#mask = positions - 1;
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#size;
  }

  /** The record under a non-negative integer, null when there is none. */
  get(id: number): T | null {
    return this.#records[this.#find(id)]!;
  }

  /** Files a record under an id that has none yet. */
  set(id: number, record: T): void {
    assert(id >= 0, 'ids are non-negative integers');
    assert(this.#size < this.#maxEntries, 'an id table holds no more than its pool');
    const at = this.#find(id);
    assert(this.#ids[at] === empty, 'an id is filed once');
    this.#ids[at] = id;
    this.#records[at] = record;
    this.#size += 1;
  }

  /** Forgets an id that is filed. */
  delete(id: number): void {
    let hole = this.#find(id);
    assert(this.#ids[hole] === id, 'only a filed id is forgotten');
    let at = hole;
    for (;;) {
      at = (at + 1) & this.#mask;
      const other = this.#ids[at]!;
      if (other === empty) break;
      // An entry may move back to the hole unless its own position lies behind the hole.
      const home = this.#position(other);
      if (((at - home) & this.#mask) < ((at - hole) & this.#mask)) continue;
      this.#ids[hole] = other;
      this.#records[hole] = this.#records[at]!;
      hole = at;
    }
    this.#ids[hole] = empty;
    this.#records[hole] = null;
    this.#size -= 1;
  }

  /** Every other position: neighbours in a pool are none here, and end each other's runs. */
  #position(id: number): number {
    return (id << 1) & this.#mask;
  }

  /** Where the id is, or where it would go. */
  #find(id: number): number {
    let at = this.#position(id);
    while (this.#ids[at] !== empty && this.#ids[at] !== id) at = (at + 1) & this.#mask;
    return at;
  }
}
