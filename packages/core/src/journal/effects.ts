/**
 * What the journal makes happen on disk. The rules of gateway/effects.ts hold: void, never throwing, never calling back.
 *
 * At most one `syncSlab` and one `syncTable` are out at a time; each is answered by its event, in the order asked.
 */
import type { SlotId } from '../store/store.ts';

export interface JournalEffects {
  /**
   * Writes memory [memory, memory + length) to a slot, length rounded up to 4096 by the core. `onSlotWritten` follows, with
   * the CRC32C of the first `store.length(slot)` bytes.
   */
  writeSlot(slot: SlotId, memory: number, length: number): void;
  /** Makes everything durable that was reported written to the slab before this call. `onSlabSynced` follows. */
  syncSlab(): void;
  /**
   * Writes the 64 bytes of a slot's row at `rowPosition(slot)` of the table; zeros clear it. They are taken during the call. Its
   * outcome comes with the next `syncTable`.
   */
  writeRecord(slot: SlotId, record: Uint8Array): void;
  /**
   * Every `writeRecord` before this call gets into the table and becomes durable. `onTableSynced` follows, with the first error
   * of either.
   */
  syncTable(): void;
  /**
   * Reads a slot's row and its block's bytes from the disk, past the page cache and off the loop, and compares: `onSlotVerified`
   * follows. The slot is pinned until then.
   */
  verifySlot(slot: SlotId): void;
}

/**
 * What comparing a block with its row gave. intact: the row is the block's, and its checksum fits the bytes. damaged: it isn't,
 * or doesn't. unreadable: one of them can't be read.
 */
export type Verdict = 'intact' | 'damaged' | 'unreadable';
