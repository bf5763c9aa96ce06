/**
 * Finds the slot of a published block: open addressing in typed arrays, by whole key.
 *
 * The index is a row of small tables of about 4,096 blocks; a hashed word says which one. Each grows alone when it fills up,
 * so growing never stalls a read for longer than moving a few thousand entries. A table is a row of buckets of 16 words, one
 * cache line: a counter and 15 entries. An entry is a slot (26 bits) and a tag of six hashed bits, so a lookup rarely reads
 * the record of another block. The record decides: it has the whole key, so a false match is impossible.
 *
 * An entry sits in its home bucket or, when that is full, in the next one with room; every bucket passed on the way counts
 * it. A lookup goes on to the next bucket only while the count isn't 0. Removing subtracts along the same way, so there
 * are no tombstones and nothing needs to move.
 *
 * Memory: 64 / (15 × 0.85) = 5.0 bytes a block when there are as many blocks as expected; up to 9.2 after growth.
 */
import { assert } from '../base/assert.ts';
import { spread, type Hash128 } from '../base/hash.ts';
import type { BlockKey } from './block-key.ts';
import { MAX_SLOTS, NIL, type SlotId, type SlotRecords } from './slot-records.ts';

const TABLE_BLOCKS = 4096;
const BUCKET_SHIFT = 4;
const BUCKET_WORDS = 1 << BUCKET_SHIFT;
const BUCKET_ENTRIES = BUCKET_WORDS - 1;
const SLOT_BITS = 26;
const SLOT_MASK = MAX_SLOTS - 1;
/** How full a table is when it has the blocks that it was made for, and when it grows. */
const EXPECTED_LOAD = 0.85;
const MAX_LOAD = 0.93;

export class BlockIndex {
  readonly #records: SlotRecords;
  readonly #tables: Int32Array[] = [];
  readonly #counts: Int32Array;
  #count = 0;

  constructor(records: SlotRecords, expectedBlocks: number) {
    this.#records = records;
    const tables = Math.max(1, Math.round(expectedBlocks / TABLE_BLOCKS));
    const buckets = Math.ceil(expectedBlocks / tables / BUCKET_ENTRIES / EXPECTED_LOAD);
    this.#counts = new Int32Array(tables);
    for (let i = 0; i < tables; i++) this.#tables.push(newTable(Math.max(2, buckets)));
  }

  /** Blocks in the index. */
  get count(): number {
    return this.#count;
  }

  /** Memory that the tables take, in bytes. */
  get bytes(): number {
    let bytes = this.#counts.byteLength;
    for (const table of this.#tables) bytes += table.byteLength;
    return bytes;
  }

  /** The slot of a block, NIL when it isn't there. `key` must be set to the same block. */
  find(key: BlockKey, version: Readonly<Hash128>, block: number): SlotId {
    const table = this.#tables[spread(key.a, this.#tables.length)]!;
    const buckets = table.length >>> BUCKET_SHIFT;
    const tag = tagOf(key);
    let bucket = spread(key.b, buckets);
    for (let walked = 0; walked < buckets; walked++) {
      const start = bucket << BUCKET_SHIFT;
      for (let at = start + 1; at < start + BUCKET_WORDS; at++) {
        const entry = table[at]!;
        if ((entry ^ tag) >>> SLOT_BITS !== 0 || entry === tag) continue;
        const slot = entry & SLOT_MASK;
        if (this.#records.isOf(slot, version, block)) return slot;
      }
      if (table[start] === 0) return NIL;
      bucket = bucket + 1 === buckets ? 0 : bucket + 1;
    }
    return NIL;
  }

  /** Adds a slot whose block isn't in the index. `key` must be set to that block; it is changed when a table grows. */
  add(key: BlockKey, slot: SlotId): void {
    const which = spread(key.a, this.#tables.length);
    let table = this.#tables[which]!;
    const room = (table.length >>> BUCKET_SHIFT) * BUCKET_ENTRIES;
    if (this.#counts[which]! + 1 > room * MAX_LOAD) {
      table = this.#grow(which, key);
      key.setFromSlot(this.#records, slot);
    }
    addTo(table, key, slot);
    this.#counts[which]!++;
    this.#count++;
  }

  /** Removes a slot that is in the index. `key` must be set to its block. */
  remove(key: BlockKey, slot: SlotId): void {
    const which = spread(key.a, this.#tables.length);
    const table = this.#tables[which]!;
    const buckets = table.length >>> BUCKET_SHIFT;
    const wanted = tagOf(key) | slot;
    let bucket = spread(key.b, buckets);
    for (let walked = 0; walked < buckets; walked++) {
      const start = bucket << BUCKET_SHIFT;
      for (let at = start + 1; at < start + BUCKET_WORDS; at++) {
        if (table[at] !== wanted) continue;
        table[at] = 0;
        this.#counts[which]!--;
        this.#count--;
        return;
      }
      // Passed over, as when it was added.
      table[start]!--;
      bucket = bucket + 1 === buckets ? 0 : bucket + 1;
    }
    assert(false, 'block index: removed a slot that is not there');
  }

  /** Gives a table twice the buckets. Leaves `key` at some other block. */
  #grow(which: number, key: BlockKey): Int32Array {
    const old = this.#tables[which]!;
    const table = newTable((old.length >>> BUCKET_SHIFT) * 2);
    for (let at = 0; at < old.length; at++) {
      if ((at & (BUCKET_WORDS - 1)) === 0) continue;
      const slot = old[at]! & SLOT_MASK;
      if (slot === NIL) continue;
      key.setFromSlot(this.#records, slot);
      addTo(table, key, slot);
    }
    this.#tables[which] = table;
    return table;
  }
}

function newTable(buckets: number): Int32Array {
  return new Int32Array(buckets << BUCKET_SHIFT);
}

/** Six hashed bits that neither the table nor the bucket was chosen by, at the top of an entry. */
function tagOf(key: BlockKey): number {
  return key.a << SLOT_BITS;
}

function addTo(table: Int32Array, key: BlockKey, slot: SlotId): void {
  const buckets = table.length >>> BUCKET_SHIFT;
  let bucket = spread(key.b, buckets);
  for (let walked = 0; walked < buckets; walked++) {
    const start = bucket << BUCKET_SHIFT;
    for (let at = start + 1; at < start + BUCKET_WORDS; at++) {
      if (table[at] !== 0) continue;
      table[at] = tagOf(key) | slot;
      return;
    }
    table[start]!++;
    bucket = bucket + 1 === buckets ? 0 : bucket + 1;
  }
  assert(false, 'block index: a table is full');
}
