/**
 * Fills an empty index with all reserved slots, table by table: a table fits into the processor's cache, and a lookup and an insertion
 * in no order wait for memory each. For that the slots are first sorted by table, with the hashed bits of their blocks: twelve bytes
 * each, until it is done.
 */
import type { BlockIndex } from './block-index.ts';
import type { BlockKey } from './block-key.ts';
import { RESERVED, type SlotId, type SlotRecords } from './slot-records.ts';

/** Slot, and the two words of a key. */
const WORDS = 3;

/** Returns the slots that were left out because one of a lower number has the same block. `key` is left at some block. */
export function fillIndex(
  index: BlockIndex,
  records: SlotRecords,
  key: BlockKey,
): ReadonlySet<SlotId> {
  const ends = tableEnds(index, records, key);
  const sorted = new Int32Array(ends.at(-1)! * WORDS);
  // From behind: then a table's slots stand in their order, and what was its end is its beginning.
  for (let slot = records.end - 1; slot > 0; slot--) {
    if (records.state(slot) !== RESERVED) continue;
    key.setFromSlot(records, slot);
    const at = --ends[index.tableOf(key)]! * WORDS;
    sorted[at] = slot;
    sorted[at + 1] = key.a;
    sorted[at + 2] = key.b;
  }
  const doubles = new Set<SlotId>();
  for (let at = 0; at < sorted.length; at += WORDS) {
    const slot = sorted[at]!;
    key.a = sorted[at + 1]!;
    key.b = sorted[at + 2]!;
    if (index.hasBlockOf(key, slot)) doubles.add(slot);
    else index.add(key, slot);
  }
  return doubles;
}

/** Where each table's slots end when they stand table by table. */
function tableEnds(index: BlockIndex, records: SlotRecords, key: BlockKey): Int32Array {
  const ends = new Int32Array(index.tableCount);
  for (let slot = 1; slot < records.end; slot++) {
    if (records.state(slot) !== RESERVED) continue;
    key.setFromSlot(records, slot);
    ends[index.tableOf(key)]!++;
  }
  for (let table = 1; table < ends.length; table++) ends[table]! += ends[table - 1]!;
  return ends;
}
