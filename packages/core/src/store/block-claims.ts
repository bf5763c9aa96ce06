/**
 * Between the store's records and what the rows of the slot table say: writes down where a block lies, and lets a block claim that
 * place again after a restart.
 */
import type { BlockPlace } from './block-place.ts';
import type { SlotAllocator } from './slot-allocator.ts';
import { MAX_BLOCK_INDEX, type SlotId, type SlotRecords } from './slot-records.ts';

/** What came of a row at a start. */
export type RestoreOutcome = 'restored' | 'outside' | 'contradictory';

export class BlockClaims {
  readonly #records: SlotRecords;
  readonly #allocator: SlotAllocator;

  constructor(records: SlotRecords, allocator: SlotAllocator) {
    this.#records = records;
    this.#allocator = allocator;
  }

  /** Writes down what a block is and where it lies. */
  describe(slot: SlotId, into: BlockPlace): void {
    const records = this.#records;
    const { version } = into;
    version.h0 = records.versionWord(slot, 0) >>> 0;
    version.h1 = records.versionWord(slot, 1) >>> 0;
    version.h2 = records.versionWord(slot, 2) >>> 0;
    version.h3 = records.versionWord(slot, 3) >>> 0;
    into.block = records.block(slot);
    into.length = records.length(slot);
    into.placementHi = records.placementHi(slot);
    into.placementLo = records.placementLo(slot);
    into.extent = records.extent(slot);
    into.place = records.place(slot);
    into.slotBytes = this.#allocator.slotBytes(slot);
  }

  /** Gives a slot to the block of a row: state RESERVED, recorded. Extents lie in `heldBytes`; what is past that is lost. */
  claim(slot: SlotId, from: Readonly<BlockPlace>, heldBytes: number): RestoreOutcome {
    const { classes, extentCount } = this.#allocator;
    const { extent, place, length, slotBytes, block } = from;
    const records = this.#records;
    records.makeUpTo(slot);
    records.setRecorded(slot, true);
    const sizeClass = classes.classWithSlots(slotBytes);
    const isSensible =
      sizeClass !== -1 &&
      place < classes.slotsPerExtent[sizeClass]! &&
      length >= 1 &&
      length <= slotBytes &&
      block >= 0 &&
      block <= MAX_BLOCK_INDEX;
    if (!isSensible) return 'contradictory';
    const end = extent * classes.extentBytes + place * slotBytes + length;
    if (extent >= extentCount || end > heldBytes) return 'outside';
    if (!this.#allocator.claim(slot, extent, place, sizeClass)) return 'contradictory';
    const { version, placementHi, placementLo } = from;
    records.assign(slot, version, block, placementHi, placementLo, length);
    return 'restored';
  }
}
