/**
 * All that a running node does to its disk: slots and rows for the journal, the metadata log, the watch over the slab's length; and
 * the faults of all of them, told once in a while.
 *
 *     journal ──▶ slots.ts ─────────┐
 *     home ─────▶ metadata-log.ts ──┼──▶ DiskFiles (local-files.ts, or a test's)
 *     errors ───▶ slab-length.ts ───┘
 *
 * Nothing here waits. Outcomes go to `NodeDiskEvents`, later.
 */
import { constants } from 'node:os';
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import type { JournalEffects, Verdict } from '@s3-accelerator/core/journal/effects.ts';
import type { MetadataFrom } from '@s3-accelerator/core/journal/metadata-log.ts';
import {
  cleanEnd,
  encodeSlabHeader,
  encodeTableHeader,
  headerPosition,
  type TableHeader,
} from '@s3-accelerator/core/journal/table-header.ts';
import type { ObjectMetadata } from '@s3-accelerator/core/read.ts';
import type { SlotId, Store } from '@s3-accelerator/core/store/store.ts';
import type { FaultLog } from '../log.ts';
import type { DiskFiles } from './disk-files.ts';
import { errnoName } from './errno.ts';
import { MetadataLog } from './metadata-log.ts';
import { SlabLength } from './slab-length.ts';
import { Slots } from './slots.ts';

export interface NodeDiskOptions {
  readonly files: DiskFiles;
  readonly store: Store;
  /** The header of this run, as it stands in the files. */
  readonly header: TableHeader;
  readonly fillMemory: Uint8Array;
  readonly faults: FaultLog;
}

/** The core's events, without the moment. */
export interface NodeDiskEvents {
  metadataFrom(...some: Parameters<MetadataFrom>): number;
  onSlotWritten(slot: SlotId, errno: number, checksum: number): void;
  onSlabSynced(errno: number): void;
  onTableSynced(errno: number): void;
  onSlotVerified(slot: SlotId, verdict: Verdict, checksum: number): void;
  onSlabTruncated(slabBytes: number): void;
  onMetadataLogCompacted(): void;
}

export class NodeDisk implements JournalEffects {
  readonly #options: NodeDiskOptions;
  readonly #events: NodeDiskEvents;
  readonly #slots: Slots;
  readonly #length: SlabLength;
  readonly #log: MetadataLog;

  constructor(options: NodeDiskOptions, events: NodeDiskEvents) {
    const { files, store, header, fillMemory } = options;
    this.#options = options;
    this.#events = events;
    this.#slots = new Slots(files, store, header, fillMemory, {
      onSlotWritten: (slot, errno, checksum) => {
        this.#onSlotWritten(slot, errno, checksum);
      },
      onSlabSynced: (errno) => {
        if (errno !== 0) {
          this.#fault(
            'slab-sync',
            'the slab could not be synced: blocks not yet durable are dropped',
            errno,
          );
        }
        events.onSlabSynced(errno);
      },
      onTableSynced: (errno) => {
        if (errno !== 0) {
          this.#fault(
            'table-sync',
            'the slot table could not be written: nothing is stored until it can',
            errno,
          );
        }
        events.onTableSynced(errno);
      },
      onSlotVerified: (slot, verdict, checksum, errno) => {
        this.#onSlotVerified(slot, verdict, checksum, errno);
      },
    });
    this.#length = new SlabLength(files, store.slabBytes, encodeSlabHeader(header), {
      onShort: (bytes) => {
        this.#fault(
          'slab-truncated',
          'the slab was cut while in use: blocks past its end are dropped',
          0,
          {
            bytes,
            expected: store.slabBytes,
          },
        );
        events.onSlabTruncated(bytes);
      },
      mustStayCut: (bytes) => store.mustStayCut(bytes),
      onRestored: () => {
        options.faults.warn('slab-restored', 'the slab has its full length again');
      },
      onRestoreFailed: (errno) => {
        this.#fault('slab-restore', 'the slab could not be given its length back', errno);
      },
    });
    this.#log = new MetadataLog({
      files,
      cacheId: header.cacheId,
      metadataFrom: (from, limit, each) => events.metadataFrom(from, limit, each),
      onReplaced: () => {
        events.onMetadataLogCompacted();
      },
      onFault: (errno) => {
        this.#fault(
          'metadata-log',
          'the metadata log could not be written: a restart will know less',
          errno,
        );
      },
    });
  }

  writeSlot(slot: SlotId, memory: number, length: number): void {
    this.#slots.write(slot, memory, length);
  }

  syncSlab(): void {
    this.#slots.syncSlab();
  }

  writeRecord(slot: SlotId, record: Uint8Array): void {
    this.#slots.writeRecord(slot, record);
  }

  syncTable(): void {
    this.#slots.syncTable();
  }

  verifySlot(slot: SlotId): void {
    this.#slots.verify(slot);
  }

  logMetadata(hash: Hash128, metadata: ObjectMetadata): void {
    this.#log.put(hash, metadata);
  }

  logForgotten(hash: Hash128): void {
    this.#log.forgotten(hash);
  }

  compactMetadataLog(): void {
    this.#log.replace();
  }

  /** A stored block couldn't be read for an answer. */
  readFailed(errno: number): void {
    this.#fault('disk-read', 'a stored block could not be read: it is dropped', errno);
    this.#length.suspect(errno);
  }

  /** Call it a few times a second, `now` in milliseconds. */
  tick(now: number): void {
    this.#length.tick(now);
    this.#log.tick(now);
  }

  /** Marks the run as ended clean, once nothing is left to be made durable. */
  endRun(done: (errno: number) => void): void {
    const header = cleanEnd(this.#options.header);
    const write = { position: headerPosition(header), bytes: encodeTableHeader(header) };
    this.#options.files.writeTable([write], done);
  }

  #onSlotWritten(slot: SlotId, errno: number, checksum: number): void {
    const { store } = this.#options;
    const isLost = this.#length.mayHaveLost(store.fileOffset(slot) + store.length(slot));
    const outcome = errno === 0 && isLost ? constants.errno.EIO : errno;
    if (outcome !== 0) {
      this.#fault('disk-write', 'a block could not be stored', outcome);
      this.#length.suspect(outcome);
    }
    this.#events.onSlotWritten(slot, outcome, checksum);
  }

  #onSlotVerified(slot: SlotId, verdict: Verdict, checksum: number, errno: number): void {
    if (verdict === 'damaged') {
      this.#fault('disk-damaged', "a stored block isn't what was written: it is dropped", 0);
    } else if (verdict === 'unreadable') {
      this.readFailed(errno);
    }
    this.#events.onSlotVerified(slot, verdict, checksum);
  }

  #fault(
    name: string,
    message: string,
    errno: number,
    fields: Readonly<Record<string, unknown>> = {},
  ): void {
    const code = errno === 0 ? {} : { errno: errnoName(errno) };
    this.#options.faults.error(name, message, { ...code, ...fields });
  }
}
