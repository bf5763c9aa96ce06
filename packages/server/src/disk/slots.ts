/**
 * The slots of the slab and their rows, as the core's journal asks for them: turns slots into places in the files.
 *
 * Rows gather between two syncs of the table and go with the next one. Outcomes are told to `SlotEvents`, never during the call
 * that asked.
 */
import type { Verdict } from '@s3-accelerator/core/journal/effects.ts';
import { claimOf, RECORD_BYTES, recordSeed } from '@s3-accelerator/core/journal/slot-record.ts';
import { rowPosition, type TableHeader } from '@s3-accelerator/core/journal/table-header.ts';
import { wordsOf } from '@s3-accelerator/core/journal/words.ts';
import { newBlockPlace } from '@s3-accelerator/core/store/block-place.ts';
import type { SlotId, Store } from '@s3-accelerator/core/store/store.ts';
import type { DiskFiles, TableWrite } from './disk-files.ts';

export interface SlotEvents {
  onSlotWritten(slot: SlotId, errno: number, checksum: number): void;
  onSlabSynced(errno: number): void;
  onTableSynced(errno: number): void;
  /** `errno` is that of an unreadable block or row, else 0. */
  onSlotVerified(slot: SlotId, verdict: Verdict, checksum: number, errno: number): void;
}

export class Slots {
  readonly #files: DiskFiles;
  readonly #store: Store;
  readonly #events: SlotEvents;
  readonly #fillMemory: Uint8Array;
  readonly #seed: number;
  #rows: TableWrite[] = [];

  constructor(
    files: DiskFiles,
    store: Store,
    header: TableHeader,
    fillMemory: Uint8Array,
    events: SlotEvents,
  ) {
    this.#files = files;
    this.#store = store;
    this.#seed = recordSeed(header.cacheId);
    this.#fillMemory = fillMemory;
    this.#events = events;
  }

  write(slot: SlotId, memory: number, length: number): void {
    const blockBytes = this.#store.length(slot);
    // What lies behind the block's last byte must not be somebody else's former bytes.
    this.#fillMemory.fill(0, memory + blockBytes, memory + length);
    const done = (errno: number, checksum: number): void => {
      this.#events.onSlotWritten(slot, errno, checksum | 0);
    };
    this.#files.writeSlab(this.#store.fileOffset(slot), memory, length, blockBytes, done);
  }

  syncSlab(): void {
    this.#files.syncSlab((errno) => {
      this.#events.onSlabSynced(errno);
    });
  }

  writeRecord(slot: SlotId, record: Uint8Array): void {
    this.#rows.push({ position: rowPosition(slot), bytes: record.slice() });
  }

  syncTable(): void {
    const rows = this.#rows;
    this.#rows = [];
    this.#files.writeTable(rows, (errno) => {
      this.#events.onTableSynced(errno);
    });
  }

  /** Compares a block with its row. The slot is pinned meanwhile: neither changes. */
  verify(slot: SlotId): void {
    this.#files.readTable(rowPosition(slot), RECORD_BYTES, (errno, row) => {
      if (errno !== 0) {
        this.#events.onSlotVerified(slot, 'unreadable', 0, errno);
        return;
      }
      const block = newBlockPlace();
      this.#store.describe(slot, block);
      const claim = claimOf(wordsOf(row), 0, slot, this.#seed, block);
      if (claim === null) this.#events.onSlotVerified(slot, 'damaged', 0, 0);
      else this.#verifyBytes(slot, claim.checksum);
    });
  }

  #verifyBytes(slot: SlotId, expected: number): void {
    const length = this.#store.length(slot);
    this.#files.checksumSlab(this.#store.fileOffset(slot), length, (errno, checksum) => {
      const isEqual = (checksum | 0) === expected;
      const verdict = errno !== 0 ? 'unreadable' : isEqual ? 'intact' : 'damaged';
      this.#events.onSlotVerified(slot, verdict, expected, errno);
    });
  }
}
