/**
 * The order in which blocks and their rows get to disk, so that no row ever speaks of bytes that aren't there.
 *
 *   reserved ─write─► waiting ─► writing ─► unsynced ─► syncing ─► unrecorded ─► recording ─► recorded
 *                     (1)                   (2)         slab sync  (3)           table sync
 *   block leaves, its row isn't empty ─► to clear ─► clearing ─► cleared
 *                                                    table sync
 * (1) until every row is cleared, durably, of the blocks that left before: one of them may have had this space.
 * (2) published: readers may have it, its bytes are in the file. Nobody waits from here on.
 * (3) its bytes are durable.
 *
 * Syncs are shared: one of the slab and one of the table are out at a time, and each takes along all that came up while the
 * one before it was out. Blocks gather for `slabSyncDelayMs` first, since only a crash would miss their rows; clears, which
 * writers wait for, go at once.
 *
 * A sync that failed is never trusted, nor is what a later one says of the same bytes: the kernel may have dropped them. A failed
 * slab sync drops every block that wasn't durable yet. A failed table sync fails the writes that wait, keeps its rows to be written
 * anew, refuses new blocks, and is tried again after `syncRetryMs` until it works.
 *
 * Invariants
 *  1. A row is written only after a slab sync that was asked for after its block was written.
 *  2. A block is written only when every row of blocks that left before it was reserved is durably empty.
 *  3. A slot's row may be other than empty only while the store's `isRecorded` says so.
 *
 * Memory: bounded by the limits below; a few bytes for each block on its way, nothing for those that are recorded. Only a slab
 * that was cut or a capacity that shrank makes more rows to clear than `maxClears`: 8 bytes each until they are.
 */
import { assert } from '../base/assert.ts';
import { newBlockPlace } from '../store/block-place.ts';
import { NO_SLOT, type SlotId, type Store } from '../store/store.ts';
import { wordsOf } from './words.ts';
import type { JournalEffects } from './effects.ts';
import { RowQueue } from './row-queue.ts';
import { encodeRecord, RECORD_BYTES, recordSeed, type RowClaim } from './slot-record.ts';
import type { TableHeader } from './table-header.ts';

/** Every bound of the journal, by name. */
export interface JournalLimits {
  /** Blocks that are written and not yet recorded; past it no further ones are stored. */
  readonly maxUnrecorded: number;
  /** Rows to be cleared; past it no further blocks are stored. */
  readonly maxClears: number;
  /** Rows that one table sync covers. */
  readonly rowsPerSync: number;
  /** How long written blocks gather before they are synced. */
  readonly slabSyncDelayMs: number;
  /** How long a disk that failed a sync is left alone. */
  readonly syncRetryMs: number;
}

export const defaultJournalLimits: JournalLimits = {
  maxUnrecorded: 4096,
  maxClears: 16_384,
  rowsPerSync: 4096,
  slabSyncDelayMs: 200,
  syncRetryMs: 1000,
};

/** What the journal counted since it started. */
export interface JournalCounters {
  /** Syncs that were answered, and those that failed. */
  slabSyncs: number;
  tableSyncs: number;
  slabSyncsFailed: number;
  tableSyncsFailed: number;
  /** Rows written durably: of blocks, and empty ones. */
  rowsRecorded: number;
  rowsCleared: number;
  /** Blocks dropped because a sync of the slab failed before they were durable. */
  unsyncedDropped: number;
  /** Blocks that weren't stored because a limit was reached or the disk fails syncs. */
  storesRefused: number;
}

/** What the journal has under way. */
export interface JournalLevels {
  /** Block writes that wait for rows to be cleared, and those that are out. */
  readonly waitingWrites: number;
  readonly writes: number;
  /** Blocks written whose row isn't durable. */
  readonly unrecorded: number;
  /** Rows to be cleared that aren't, durably. */
  readonly unclearedRows: number;
  /** 0 once `shutdown` was called and everything is durable: then the run may be marked as ended clean. */
  readonly unflushed: number;
}

interface WaitingWrite {
  readonly slot: SlotId;
  readonly memory: number;
  readonly length: number;
  /** It may go once this many rows were cleared in all. */
  readonly afterClears: number;
}

export interface JournalOptions {
  readonly store: Store;
  readonly effects: JournalEffects;
  readonly limits: JournalLimits;
  /** The header of this run, as it was written to the files. */
  readonly header: TableHeader;
}

type Checksums = Map<SlotId, number>;

const noMoment = Infinity;

export class Journal {
  readonly counters: JournalCounters = {
    slabSyncs: 0,
    tableSyncs: 0,
    slabSyncsFailed: 0,
    tableSyncsFailed: 0,
    rowsRecorded: 0,
    rowsCleared: 0,
    unsyncedDropped: 0,
    storesRefused: 0,
  };
  readonly #store: Store;
  readonly #effects: JournalEffects;
  readonly #limits: JournalLimits;
  readonly #seed: number;
  /** Block writes that wait for rows to be cleared, in the order they came. */
  #waiting: WaitingWrite[] = [];
  #writes = 0;
  /** Checksums of blocks by how far they are. */
  #unsynced: Checksums = new Map();
  #syncing: Checksums = new Map();
  readonly #unrecorded: Checksums = new Map();
  #recording: Checksums = new Map();
  /** Rows to clear, oldest first; the first `#clearing` of them are in the sync that is out. */
  readonly #clears = new RowQueue();
  #clearing = 0;
  #clearsAsked = 0;
  #clearsDone = 0;
  #isSlabSyncOut = false;
  #isTableSyncOut = false;
  /** When the oldest unsynced block was written. */
  #unsyncedSince = noMoment;
  /** Until when a sync isn't tried again after it failed. */
  #slabRestsUntil = -Infinity;
  #tableRestsUntil = -Infinity;
  #hasSlabFailed = false;
  #hasTableFailed = false;
  #isEnding = false;
  /** Slots whose write never began: told by `takeFailed`. */
  readonly #failed: SlotId[] = [];
  readonly #record = new Uint8Array(RECORD_BYTES);
  readonly #recordWords = wordsOf(this.#record);
  readonly #empty = new Uint8Array(RECORD_BYTES);
  readonly #place = newBlockPlace();
  readonly #claim: RowClaim;

  constructor({ store, effects, limits, header }: JournalOptions) {
    this.#store = store;
    this.#effects = effects;
    this.#limits = limits;
    this.#seed = recordSeed(header.cacheId);
    this.#claim = { checksum: 0, run: header.run };
  }

  /** Whether a block may be stored now; counts it when not. */
  accepts(): boolean {
    const { maxUnrecorded, maxClears } = this.#limits;
    const hasRoom =
      this.#unrecordedCount + this.#writes < maxUnrecorded && this.#clears.size < maxClears;
    const isDiskGood = !this.#hasTableFailed && !this.#hasSlabFailed;
    if (hasRoom && isDiskGood && !this.#isEnding) return true;
    this.counters.storesRefused += 1;
    return false;
  }

  /** Writes a block into the slot reserved for it, as soon as no row can speak of its space. The memory stays until `ended`. */
  write(slot: SlotId, memory: number, length: number): void {
    this.#noticeLeft();
    this.#waiting.push({ slot, memory, length, afterClears: this.#clearsAsked });
    this.#releaseWrites();
  }

  /** A block's write ended, well or not. */
  ended(): void {
    assert(this.#writes > 0, 'journal: a write ended that was not out');
    this.#writes -= 1;
  }

  /** A block that was written is published: it gets a row once its bytes are durable. */
  published(now: number, slot: SlotId, checksum: number): void {
    this.#noticeLeft();
    assert(!this.#store.isRecorded(slot), 'journal: a slot is written when its row is empty');
    this.#store.setRecorded(slot, true);
    this.#unsynced.set(slot, checksum);
    this.#unsyncedSince = Math.min(this.#unsyncedSince, now);
  }

  /** A block of an earlier run was verified: its row is written anew, as this run's. */
  verified(slot: SlotId, checksum: number): void {
    this.#unrecorded.set(slot, checksum);
  }

  /** Whether a slot's row is on disk as it stays, so that block and row can be compared. */
  isSettled(slot: SlotId): boolean {
    return (
      this.#store.isRecorded(slot) &&
      !this.#unsynced.has(slot) &&
      !this.#syncing.has(slot) &&
      !this.#unrecorded.has(slot) &&
      !this.#recording.has(slot)
    );
  }

  slabSynced(now: number, errno: number): void {
    assert(this.#isSlabSyncOut, 'journal: a slab sync ended that was not out');
    this.#isSlabSyncOut = false;
    this.counters.slabSyncs += 1;
    this.#noticeLeft();
    if (errno === 0) {
      for (const [slot, checksum] of this.#syncing) this.#unrecorded.set(slot, checksum);
      this.#syncing.clear();
      return;
    }
    this.counters.slabSyncsFailed += 1;
    this.#hasSlabFailed = true;
    this.#slabRestsUntil = now + this.#limits.syncRetryMs;
    this.#dropAll(this.#syncing);
    this.#dropAll(this.#unsynced);
    this.#unsyncedSince = noMoment;
  }

  tableSynced(now: number, errno: number): void {
    assert(this.#isTableSyncOut, 'journal: a table sync ended that was not out');
    this.#isTableSyncOut = false;
    this.counters.tableSyncs += 1;
    // What left meanwhile isn't recorded any more, whatever its row says.
    this.#noticeLeft();
    if (errno === 0) {
      this.#hasTableFailed = false;
      this.#rowsDurable();
      return;
    }
    this.counters.tableSyncsFailed += 1;
    this.#hasTableFailed = true;
    this.#tableRestsUntil = now + this.#limits.syncRetryMs;
    this.#clearing = 0;
    for (const [slot, checksum] of this.#recording) {
      if (!this.#unrecorded.has(slot)) this.#unrecorded.set(slot, checksum);
    }
    this.#recording.clear();
    for (const { slot } of this.#waiting) this.#failed.push(slot);
    this.#waiting = [];
  }

  /** A slot whose write never began because the table can't be written: NO_SLOT when there is none. Ask until then. */
  takeFailed(): SlotId {
    return this.#failed.pop() ?? NO_SLOT;
  }

  /** Stores nothing more, and makes everything durable. */
  shutdown(): void {
    this.#isEnding = true;
  }

  /** At the end of every event: starts what is due. */
  advance(now: number): void {
    this.#noticeLeft();
    if (this.#hasSlabFailed && now >= this.#slabRestsUntil) this.#hasSlabFailed = false;
    this.#releaseWrites();
    if (!this.#isSlabSyncOut && now >= this.#slabSyncDue()) this.#syncSlab();
    const isTableDue = this.#clears.size > 0 || this.#unrecorded.size > 0;
    if (!this.#isTableSyncOut && isTableDue && now >= this.#tableRestsUntil) this.#syncTable();
  }

  /** The moment that `advance` has something to do without an event, Infinity when none. */
  get deadline(): number {
    const slab = this.#isSlabSyncOut ? Infinity : this.#slabSyncDue();
    const waits = this.#hasTableFailed && !this.#isTableSyncOut;
    return Math.min(slab, waits ? this.#tableRestsUntil : Infinity);
  }

  levels(): JournalLevels {
    const waitingWrites = this.#waiting.length;
    const unrecorded = this.#unrecordedCount;
    const unclearedRows = this.#clears.size;
    const isOut = this.#isSlabSyncOut || this.#isTableSyncOut;
    const underWay = waitingWrites + this.#writes + unrecorded + unclearedRows;
    return {
      waitingWrites,
      writes: this.#writes,
      unrecorded,
      unclearedRows,
      unflushed: underWay + (this.#isEnding && !isOut ? 0 : 1),
    };
  }

  get #unrecordedCount(): number {
    return this.#unsynced.size + this.#syncing.size + this.#unrecorded.size + this.#recording.size;
  }

  #slabSyncDue(): number {
    if (this.#unsynced.size === 0) return Infinity;
    const delayMs = this.#isEnding ? 0 : this.#limits.slabSyncDelayMs;
    return Math.max(this.#unsyncedSince + delayMs, this.#slabRestsUntil);
  }

  #syncSlab(): void {
    assert(this.#syncing.size === 0, 'journal: one slab sync at a time');
    const empty = this.#syncing;
    this.#syncing = this.#unsynced;
    this.#unsynced = empty;
    this.#unsyncedSince = noMoment;
    this.#isSlabSyncOut = true;
    this.#effects.syncSlab();
  }

  /** Clears first: writers wait for them. */
  #syncTable(): void {
    const { rowsPerSync } = this.#limits;
    this.#clearing = Math.min(this.#clears.size, rowsPerSync);
    for (let i = 0; i < this.#clearing; i++) {
      this.#effects.writeRecord(this.#clears.at(i), this.#empty);
    }
    let rows = this.#clearing;
    for (const [slot, checksum] of this.#unrecorded) {
      if (rows === rowsPerSync) break;
      rows += 1;
      this.#unrecorded.delete(slot);
      this.#recording.set(slot, checksum);
      this.#store.describe(slot, this.#place);
      this.#claim.checksum = checksum;
      encodeRecord(this.#recordWords, 0, slot, this.#place, this.#claim, this.#seed);
      this.#effects.writeRecord(slot, this.#record);
    }
    this.#isTableSyncOut = true;
    this.#effects.syncTable();
  }

  #rowsDurable(): void {
    for (let i = 0; i < this.#clearing; i++) this.#store.setRecorded(this.#clears.at(i), false);
    this.counters.rowsCleared += this.#clearing;
    this.#clearsDone += this.#clearing;
    this.#clears.drop(this.#clearing);
    this.#clearing = 0;
    this.counters.rowsRecorded += this.#recording.size;
    this.#recording.clear();
  }

  /** Rows of blocks that left are to be cleared, unless nothing was written to them yet. */
  #noticeLeft(): void {
    for (let slot = this.#store.takeLeft(); slot !== NO_SLOT; slot = this.#store.takeLeft()) {
      if (this.#unsynced.delete(slot) || this.#syncing.delete(slot)) {
        this.#store.setRecorded(slot, false);
        continue;
      }
      this.#unrecorded.delete(slot);
      this.#recording.delete(slot);
      this.#clears.push(slot);
      this.#clearsAsked += 1;
    }
  }

  #releaseWrites(): void {
    let count = 0;
    for (const { slot, memory, length, afterClears } of this.#waiting) {
      if (afterClears > this.#clearsDone) break;
      count += 1;
      this.#writes += 1;
      this.#effects.writeSlot(slot, memory, length);
    }
    if (count > 0) this.#waiting.splice(0, count);
  }

  #dropAll(blocks: Checksums): void {
    for (const slot of blocks.keys()) {
      this.#store.setRecorded(slot, false);
      this.#store.drop(slot);
      this.counters.unsyncedDropped += 1;
    }
    blocks.clear();
  }
}
