/**
 * The slots of a node's slab and their rows, as its journal asks for them during one run. What becomes of a slot goes to the
 * checkers as the world sees it: which runs ended clean is a matter of fact there, whatever the store believes.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { JournalEffects, Verdict } from '@s3-accelerator/core/journal/effects.ts';
import {
  claimOf,
  decodeRecord,
  RECORD_BYTES,
  recordSeed,
  type RowClaim,
} from '@s3-accelerator/core/journal/slot-record.ts';
import {
  placePosition,
  rowPosition,
  type TableHeader,
} from '@s3-accelerator/core/journal/table-header.ts';
import { wordsOf } from '@s3-accelerator/core/journal/words.ts';
import { newBlockPlace, type BlockPlace } from '@s3-accelerator/core/store/block-place.ts';
import type { SlotId, Store } from '@s3-accelerator/core/store/store.ts';
import type { SlotEventKind } from '../history/block-event.ts';
import type { DurableRecord, StoredBlock } from '../history/views.ts';
import { nameOf } from '../oracle/oracle.ts';
import { checksumOf } from './checksum.ts';
import type { NodeFiles } from './node-files.ts';
import { SlabLength } from './slab-length.ts';
import type { Surroundings } from './surroundings.ts';

export interface SlotEvents {
  onSlotWritten(slot: SlotId, errno: number, checksum: number): void;
  onSlabSynced(errno: number): void;
  onTableSynced(errno: number): void;
  onSlotVerified(slot: SlotId, verdict: Verdict, checksum: number): void;
  onSlabTruncated(slabBytes: number): void;
}

/** EIO. */
const inputOutputError = 5;

export interface SlotFilesOptions {
  readonly world: Surroundings;
  readonly files: NodeFiles;
  readonly store: Store;
  readonly header: TableHeader;
  readonly memory: Uint8Array;
  readonly events: SlotEvents;
  readonly nodeId: number;
  readonly life: number;
  readonly writeErrno: () => number;
  readonly readErrno: () => number;
  /** A slot is about to be written. */
  readonly onWrite: (slot: SlotId) => void;
}

interface Row {
  readonly slot: SlotId;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export class SlotFiles implements JournalEffects {
  readonly #options: SlotFilesOptions;
  readonly #seed: number;
  readonly #length: SlabLength;
  #rows: Row[] = [];

  constructor(options: SlotFilesOptions) {
    this.#options = options;
    this.#seed = recordSeed(options.header.cacheId);
    const { world, files, store, events } = options;
    this.#length = new SlabLength(world.queue, files, store, (bytes) => {
      events.onSlabTruncated(bytes);
    });
    this.#noteRestored();
  }

  /** The process is over. */
  stop(): void {
    this.#length.stop();
  }

  writeSlot(slot: SlotId, memory: number, length: number): void {
    const { files, store, events, writeErrno, onWrite } = this.#options;
    assert(length % 4096 === 0 && length <= store.slotBytes(slot), 'writes fit their slot');
    onWrite(slot);
    const blockBytes = store.length(slot);
    const source = this.#options.memory;
    // What lies behind the block's last byte must not be somebody else's former bytes.
    source.fill(0, memory + blockBytes, memory + length);
    const bytes = (): Uint8Array => source.subarray(memory, memory + length);
    this.#note(slot, 'left');
    files.disk.write(files.slab, this.offset(slot), bytes, writeErrno(), (errno) => {
      const isThere = this.#length.holds(slot, length);
      if (errno === 0 && isThere) {
        this.#note(slot, 'written');
        files.written(this.offset(slot), length);
      }
      const checksum = checksumOf(source.subarray(memory, memory + blockBytes));
      events.onSlotWritten(slot, isThere ? errno : inputOutputError, checksum);
    });
  }

  syncSlab(): void {
    const { files, events, writeErrno } = this.#options;
    files.disk.sync(files.slab, writeErrno(), (errno) => {
      events.onSlabSynced(errno);
    });
  }

  writeRecord(slot: SlotId, record: Uint8Array): void {
    this.#rows.push({ slot, offset: rowPosition(slot), bytes: record.slice() });
  }

  syncTable(): void {
    const { files, events, writeErrno, world } = this.#options;
    const rows = this.#rows;
    this.#rows = [];
    files.disk.writeAndSync(files.table, rows, writeErrno(), (errno) => {
      for (const { slot } of rows) {
        const record = this.durableRecord(slot);
        if (record !== null) world.checkers.recordSeen(record);
      }
      events.onTableSynced(errno);
    });
  }

  /** Compares a block with its row. */
  verifySlot(slot: SlotId): void {
    const { files, store, events, readErrno } = this.#options;
    files.disk.read(() => {
      const start = this.offset(slot);
      if (readErrno() !== 0 || !this.#length.holds(slot, store.length(slot))) {
        this.#note(slot, 'damaged');
        events.onSlotVerified(slot, 'unreadable', 0);
        return;
      }
      const claim = this.#claimOf(slot);
      const bytes = files.slab.seen.subarray(start, start + store.length(slot));
      const isIntact = claim !== null && claim.checksum === checksumOf(bytes);
      this.#note(slot, isIntact ? 'verified' : 'damaged');
      events.onSlotVerified(slot, isIntact ? 'intact' : 'damaged', claim?.checksum ?? 0);
    });
  }

  /** Bytes of a slot for somebody, some time from now; null when they can't be read. */
  read(
    slot: SlotId,
    offset: number,
    length: number,
    done: (bytes: Uint8Array | null) => void,
  ): void {
    const { files, readErrno } = this.#options;
    this.#note(slot, 'served');
    files.disk.read(() => {
      const start = this.offset(slot) + offset;
      const isReadable = readErrno() === 0 && this.#length.holds(slot, offset + length);
      if (!isReadable) this.#noteUnreadable(slot);
      done(isReadable ? files.slab.seen.slice(start, start + length) : null);
    });
  }

  /** Where a slot begins in the slab's file. */
  offset(slot: SlotId): number {
    return this.#options.store.fileOffset(slot);
  }

  /** Every block that the node would serve as it is. */
  storedBlocks(): StoredBlock[] {
    const { store, files } = this.#options;
    const blocks: StoredBlock[] = [];
    const place = newBlockPlace();
    for (let slot = 1; slot < store.end; slot++) {
      if (!store.isPublished(slot) || !store.isTrusted(slot)) continue;
      store.describe(slot, place);
      const start = this.offset(slot);
      blocks.push({
        node: this.#options.nodeId,
        slot,
        ...this.#named(place),
        bytes: files.slab.seen.subarray(start, start + place.length),
        isRotten: files.isRotten(start, place.length),
      });
    }
    return blocks;
  }

  /** The row that a crash would leave of a slot, and the bytes; null for an empty or a damaged one. */
  durableRecord(slot: SlotId): DurableRecord | null {
    const { files, store, header, nodeId } = this.#options;
    const place = newBlockPlace();
    const claim: RowClaim = { checksum: 0, run: 0 };
    const at = rowPosition(slot);
    const row = files.table.durable.slice(at, at + RECORD_BYTES);
    const words = new Int32Array(row.buffer);
    if (decodeRecord(words, 0, slot, this.#seed, place, claim) !== 'valid') return null;
    const start = placePosition(place, store.extentBytes);
    return {
      node: nodeId,
      slot,
      ...this.#named(place),
      bytes: files.slab.durable.subarray(start, start + place.length),
      isRotten: files.isRotten(start, place.length),
      isOfAnEarlierRun: claim.run !== header.run && !files.cleanRuns.has(claim.run),
    };
  }

  #named(place: Readonly<BlockPlace>): Pick<StoredBlock, 'block' | 'blockBytes' | 'length'> {
    const { world, store } = this.#options;
    const named = world.identities.named(place.version);
    const { blockBytes } = store;
    const { length, block: index } = place;
    if (named === null) return { block: null, blockBytes, length };
    const { bucket, key, etag } = named;
    return { block: { bucket, key, etag, index }, blockBytes, length };
  }

  /** What the row says, if it is the row of the block that the store has in the slot. */
  #claimOf(slot: SlotId): RowClaim | null {
    const { files, store } = this.#options;
    const row = files.table.seen.slice(rowPosition(slot), rowPosition(slot + 1));
    const block = newBlockPlace();
    store.describe(slot, block);
    return claimOf(wordsOf(row), 0, slot, this.#seed, block);
  }

  /** Whoever was to have these bytes goes without. */
  #noteUnreadable(slot: SlotId): void {
    const { store, world, nodeId } = this.#options;
    const place = newBlockPlace();
    store.describe(slot, place);
    const named = world.identities.named(place.version);
    const { now } = world.queue;
    world.history.faultBegan({
      what: `node ${nodeId} can't read slot ${slot}`,
      from: now,
      until: now,
      gateway: -1,
      object: named === null ? '' : nameOf(named.bucket, named.key),
    });
  }

  #noteRestored(): void {
    const { store, files, world } = this.#options;
    const { situations } = world;
    for (let slot = 1; slot < store.end; slot++) {
      if (!store.isPublished(slot)) continue;
      const run = this.#claimOf(slot)?.run ?? -1;
      const isTrusted = files.cleanRuns.has(run);
      this.#note(slot, isTrusted ? 'trusted' : 'untrusted');
      situations.arose(isTrusted ? 'block trusted after a clean end' : 'block of an unclean end');
    }
  }

  #note(slot: SlotId, kind: SlotEventKind): void {
    const { world, nodeId: node, life } = this.#options;
    world.checkers.slotChanged({ node, life, at: world.queue.now, slot, kind });
  }
}
