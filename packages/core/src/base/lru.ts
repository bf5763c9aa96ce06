/**
 * Least-recently-used entries keyed by a 128-bit hash, bounded by count and by bytes; every
 * operation is O(1).
 *
 * Object metadata lives in these, at gateways and at homes. Keys compare on all 128 bits. Bucket
 * positions mix in a seed, so that nobody who chooses object names can aim them at one chain. A hit
 * allocates nothing.
 *
 * Invariants: count ≤ maxEntries; bytes ≤ maxBytes; every entry is in exactly one chain and once in
 * the order of use. Memory: 40 bytes an entry of capacity, and the values.
 */
import { assert } from './assert.ts';
import { mix32, type Hash128 } from './hash.ts';

/** Links hold entry number plus one, so that zeroed memory means none. */
const NONE = 0;

export class Lru<V> {
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly #seed: number;
  readonly #mask: number;
  readonly #keys: Int32Array;
  readonly #weights: Float64Array;
  readonly #values: (V | null)[] = [null];
  readonly #chains: Int32Array;
  readonly #chainNext: Int32Array;
  /**
   * Order of use as a circle through entry 0: #newer[0] is the oldest entry, #older[0] the newest.
   */
  readonly #newer: Int32Array;
  readonly #older: Int32Array;
  #freed = NONE;
  #count = 0;
  #bytes = 0;
  #evicted = 0;

  /** `seed` is any 32 bits that outsiders don't know. */
  constructor(maxEntries: number, maxBytes: number, seed: number) {
    assert(maxEntries >= 1 && maxEntries < 1 << 28, 'lru: entries out of range');
    this.maxEntries = maxEntries;
    this.maxBytes = maxBytes;
    this.#seed = seed | 0;
    let chains = 1;
    while (chains < maxEntries) chains *= 2;
    this.#mask = chains - 1;
    this.#chains = new Int32Array(chains);
    this.#keys = new Int32Array(4 * (maxEntries + 1));
    this.#weights = new Float64Array(maxEntries + 1);
    this.#chainNext = new Int32Array(maxEntries + 1);
    this.#newer = new Int32Array(maxEntries + 1);
    this.#older = new Int32Array(maxEntries + 1);
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Entries that left to make room. */
  get evicted(): number {
    return this.#evicted;
  }

  /** The value, now the most recently used; null when there is none. */
  get(key: Readonly<Hash128>): V | null {
    const entry = this.#find(key);
    if (entry === NONE) return null;
    this.#unlink(entry);
    this.#linkNewest(entry);
    return this.#values[entry]!;
  }

  /** The value without counting as a use; null when there is none. */
  peek(key: Readonly<Hash128>): V | null {
    return this.#values[this.#find(key)]!;
  }

  /**
   * Keeps a value that weighs `bytes`, in place of the key's present one. The oldest entries leave
   * to make room; a value heavier than `maxBytes` isn't kept at all (false).
   */
  set(key: Readonly<Hash128>, value: V, bytes: number): boolean {
    assert(bytes >= 0, 'lru: negative weight');
    this.delete(key);
    if (bytes > this.maxBytes) return false;
    while (this.#count === this.maxEntries || this.#bytes + bytes > this.maxBytes) {
      this.#drop(this.#newer[0]!);
      this.#evicted++;
    }
    let entry = this.#freed;
    if (entry === NONE) {
      entry = this.#values.length;
      this.#values.push(value);
    } else {
      this.#freed = this.#newer[entry]!;
      this.#values[entry] = value;
    }
    const at = 4 * entry;
    this.#keys[at] = key.h0;
    this.#keys[at + 1] = key.h1;
    this.#keys[at + 2] = key.h2;
    this.#keys[at + 3] = key.h3;
    this.#weights[entry] = bytes;
    const chain = this.#chainOf(entry);
    this.#chainNext[entry] = this.#chains[chain]!;
    this.#chains[chain] = entry;
    this.#linkNewest(entry);
    this.#count++;
    this.#bytes += bytes;
    return true;
  }

  /** Forgets the key; false when there was nothing. */
  delete(key: Readonly<Hash128>): boolean {
    const entry = this.#find(key);
    if (entry === NONE) return false;
    this.#drop(entry);
    return true;
  }

  /**
   * Shows up to `limit` places of the table from `from` on (0 to begin), those that have an entry, and returns where to go on, 0
   * when that was all. An entry that stays is shown once, whatever else comes or goes between calls; its key is reused.
   */
  visit(from: number, limit: number, each: (key: Hash128, value: V) => void): number {
    const end = Math.min(Math.max(1, from) + limit, this.#values.length);
    const key: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
    for (let entry = Math.max(1, from); entry < end; entry++) {
      const value = this.#values[entry];
      if (value == null) continue;
      const at = 4 * entry;
      key.h0 = this.#keys[at]! >>> 0;
      key.h1 = this.#keys[at + 1]! >>> 0;
      key.h2 = this.#keys[at + 2]! >>> 0;
      key.h3 = this.#keys[at + 3]! >>> 0;
      each(key, value);
    }
    return end === this.#values.length ? 0 : end;
  }

  #find(key: Readonly<Hash128>): number {
    const { h0, h1, h2, h3 } = key;
    const keys = this.#keys;
    let entry = this.#chains[mix32(h0 ^ mix32(h1 ^ this.#seed)) & this.#mask]!;
    while (entry !== NONE) {
      const at = 4 * entry;
      if (
        keys[at] === (h0 | 0) &&
        keys[at + 1] === (h1 | 0) &&
        keys[at + 2] === (h2 | 0) &&
        keys[at + 3] === (h3 | 0)
      ) {
        return entry;
      }
      entry = this.#chainNext[entry]!;
    }
    return NONE;
  }

  #chainOf(entry: number): number {
    const h1 = this.#keys[4 * entry + 1]!;
    return mix32(this.#keys[4 * entry]! ^ mix32(h1 ^ this.#seed)) & this.#mask;
  }

  #drop(entry: number): void {
    assert(entry !== NONE, 'lru: dropped an entry that is not there');
    const chain = this.#chainOf(entry);
    const next = this.#chainNext[entry]!;
    let before = this.#chains[chain]!;
    if (before === entry) {
      this.#chains[chain] = next;
    } else {
      while (this.#chainNext[before] !== entry) before = this.#chainNext[before]!;
      this.#chainNext[before] = next;
    }
    this.#unlink(entry);
    this.#count--;
    this.#bytes -= this.#weights[entry]!;
    this.#values[entry] = null;
    this.#newer[entry] = this.#freed;
    this.#freed = entry;
  }

  #unlink(entry: number): void {
    const newer = this.#newer[entry]!;
    const older = this.#older[entry]!;
    this.#newer[older] = newer;
    this.#older[newer] = older;
  }

  #linkNewest(entry: number): void {
    const newest = this.#older[0]!;
    this.#newer[newest] = entry;
    this.#older[entry] = newest;
    this.#newer[entry] = 0;
    this.#older[0] = entry;
  }
}
