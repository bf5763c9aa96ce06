/**
 * Finds the slot of a published block: open addressing in typed arrays, by whole key.
 *
 * The index is a row of small tables of about 4,096 blocks; a hashed word says which one. Each
 * grows alone when it fills up, so growing never stalls a read for longer than moving a few
 * thousand entries. A table is a row of buckets of 16 words, one cache line: a header and 15
 * entries. An entry is a slot (26 bits) and a tag of six hashed bits, so a lookup rarely reads the
 * record of another block. The record decides: it has the whole key, so a false match is
 * impossible.
 *
 * An entry sits in its home bucket or, when that is full, in the next one with room. The header
 * counts entries that were passed on, in eight counts of four bits by three more hashed bits: a
 * lookup goes on to the next bucket only while its count isn't 0. Removing subtracts along the same
 * way, so there are no tombstones and nothing needs to move. (With a single count, lookups of
 * missing blocks walked 24 buckets once many blocks had come and gone, 1.2 with eight.)
 *
 * Memory: 64 / (15 × 0.7) = 6.1 bytes a block when there are as many blocks as expected; 8 just
 * after growth.
 */
import { assert } from '../base/assert.ts';
import { spread, type Hash128 } from '../base/hash.ts';
import { plainMemory, type AllocateMemory } from '../base/memory.ts';
import type { BlockKey } from './block-key.ts';
import { MAX_SLOTS, NIL, type SlotId, type SlotRecords } from './slot-records.ts';

const TABLE_BLOCKS = 4096;
const BUCKET_SHIFT = 4;
const BUCKET_WORDS = 1 << BUCKET_SHIFT;
const BUCKET_ENTRIES = BUCKET_WORDS - 1;
const SLOT_BITS = 26;
const SLOT_MASK = MAX_SLOTS - 1;
/** How full a table is when it has the blocks that it was made for, and when it grows. */
const EXPECTED_LOAD = 0.7;
const MAX_LOAD = 0.8;
const GROWTH = 1.5;
/** A count in a header that got here stays: it can no longer say how many there are. */
const STUCK = 15;

export class BlockIndex {
  readonly #records: SlotRecords;
  readonly #tables: Int32Array[] = [];
  readonly #counts: Int32Array;
  #count = 0;

  constructor(
    records: SlotRecords,
    expectedBlocks: number,
    allocate: AllocateMemory = plainMemory,
  ) {
    this.#records = records;
    const tables = Math.max(1, Math.round(expectedBlocks / TABLE_BLOCKS));
    const wanted = Math.ceil(expectedBlocks / tables / BUCKET_ENTRIES / EXPECTED_LOAD);
    const words = Math.max(2, wanted) << BUCKET_SHIFT;
    this.#counts = new Int32Array(tables);
    // In one piece, which may be in huge pages; one that grows moves out of it.
    const memory = allocate(tables * words * 4);
    for (let i = 0; i < tables; i++)
      this.#tables.push(new Int32Array(memory, i * words * 4, words));
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

  /** How many tables there are, and which of them a block's entry belongs into. */
  get tableCount(): number {
    return this.#tables.length;
  }

  tableOf(key: BlockKey): number {
    return spread(key.a, this.#tables.length);
  }

  /** The slot of a block, NIL when it isn't there. `key` must be set to the same block. */
  find(key: BlockKey, version: Readonly<Hash128>, block: number): SlotId {
    const table = this.#tables[this.tableOf(key)]!;
    const buckets = table.length >>> BUCKET_SHIFT;
    const tag = tagOf(key);
    let bucket = spread(key.b, buckets);
    for (let walked = 0; walked < buckets; walked++) {
      const start = bucket << BUCKET_SHIFT;
      // Without branches: where in the bucket the entry is can't be predicted, and a wrong guess
      // would cost more than looking at all entries. `alike` is -1 for an entry with the tag, else
      // 0.
      let entries = 0;
      let matches = 0;
      for (let at = start + 1; at < start + BUCKET_WORDS; at++) {
        const entry = table[at]!;
        const alike = (((entry ^ tag) >>> SLOT_BITS) - 1) >> 31;
        entries |= entry & alike;
        matches -= alike;
      }
      if (matches === 1) {
        const slot = entries & SLOT_MASK;
        if (this.#records.isOf(slot, version, block)) return slot;
      } else if (matches > 1) {
        const slot = this.#firstOf(table, start, tag, version, block);
        if (slot !== NIL) return slot;
      }
      if (passedOn(table[start]!, key) === 0) return NIL;
      bucket = bucket + 1 === buckets ? 0 : bucket + 1;
    }
    return NIL;
  }

  /**
   * Whether another slot of the index has the block of this one, to which `key` must be set. Reads the slot's own record only
   * where an entry looks alike.
   */
  hasBlockOf(key: BlockKey, slot: SlotId): boolean {
    const table = this.#tables[this.tableOf(key)]!;
    const buckets = table.length >>> BUCKET_SHIFT;
    const tag = tagOf(key);
    let bucket = spread(key.b, buckets);
    for (let walked = 0; walked < buckets; walked++) {
      const start = bucket << BUCKET_SHIFT;
      for (let at = start + 1; at < start + BUCKET_WORDS; at++) {
        const entry = table[at]!;
        if ((entry ^ tag) >>> SLOT_BITS !== 0) continue;
        if (this.#records.haveOneBlock(entry & SLOT_MASK, slot)) return true;
      }
      if (passedOn(table[start]!, key) === 0) return false;
      bucket = bucket + 1 === buckets ? 0 : bucket + 1;
    }
    return false;
  }

  /**
   * How many buckets a lookup reads when the block that `key` is set to isn't there: tests and
   * benchmarks watch it.
   */
  missWalk(key: BlockKey): number {
    const table = this.#tables[this.tableOf(key)]!;
    const buckets = table.length >>> BUCKET_SHIFT;
    let bucket = spread(key.b, buckets);
    let walked = 1;
    while (walked < buckets && passedOn(table[bucket << BUCKET_SHIFT]!, key) !== 0) {
      bucket = bucket + 1 === buckets ? 0 : bucket + 1;
      walked++;
    }
    return walked;
  }

  /**
   * The block's slot among several entries of a bucket with its tag; NIL when it is none of them.
   */
  #firstOf(
    table: Int32Array,
    start: number,
    tag: number,
    version: Readonly<Hash128>,
    block: number,
  ): SlotId {
    for (let at = start + 1; at < start + BUCKET_WORDS; at++) {
      const entry = table[at]!;
      if ((entry ^ tag) >>> SLOT_BITS !== 0) continue;
      const slot = entry & SLOT_MASK;
      if (this.#records.isOf(slot, version, block)) return slot;
    }
    return NIL;
  }

  /**
   * Adds a slot whose block isn't in the index. `key` must be set to that block; it is changed when
   * a table grows.
   */
  add(key: BlockKey, slot: SlotId): void {
    const which = this.tableOf(key);
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
    const which = this.tableOf(key);
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
      // Passed on from here, as when it was added.
      countPassing(table, start, key, -1);
      bucket = bucket + 1 === buckets ? 0 : bucket + 1;
    }
    assert(false, 'block index: removed a slot that is not there');
  }

  /** Gives a table half as many buckets again. Leaves `key` at some other block. */
  #grow(which: number, key: BlockKey): Int32Array {
    const old = this.#tables[which]!;
    const table = newTable(Math.ceil((old.length >>> BUCKET_SHIFT) * GROWTH));
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

/**
 * Six hashed bits that neither the table nor the bucket was chosen by, at the top of an entry;
 * never 0, as empty is.
 */
function tagOf(key: BlockKey): number {
  const tag = key.a << SLOT_BITS;
  return tag === 0 ? 1 << SLOT_BITS : tag;
}

/** Which four bits of a header count the entries that are like `key`. */
function countShift(key: BlockKey): number {
  return (key.a >>> 4) & 0b11100;
}

/** How many entries like `key` the bucket with this header passed on. */
function passedOn(header: number, key: BlockKey): number {
  return (header >>> countShift(key)) & STUCK;
}

function countPassing(table: Int32Array, header: number, key: BlockKey, change: 1 | -1): void {
  const count = passedOn(table[header]!, key);
  if (count !== STUCK) table[header] = table[header]! + (change << countShift(key));
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
    countPassing(table, start, key, 1);
    bucket = bucket + 1 === buckets ? 0 : bucket + 1;
  }
  assert(false, 'block index: a table is full');
}
