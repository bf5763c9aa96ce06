/**
 * A node's data directory in memory: slab, slot table and metadata log, with syncs that take their time and may fail, and crashes
 * that lose what wasn't synced. Outlives the lives of its node. Checks the journal's invariants with every write.
 */
import { assert } from '../base/assert.ts';
import { Prng } from '../base/prng.ts';
import type { Hash128 } from '../base/hash.ts';
import type { JournalEffects, Verdict } from '../journal/effects.ts';
import {
  encodeForgotten,
  encodeLogHeader,
  encodePut,
  FORGOTTEN_BYTES,
  putBytes,
  readLog,
  type LogReader,
} from '../journal/metadata-log.ts';
import { Recovery, type RecoveryCounts } from '../journal/recovery.ts';
import { planStart } from '../journal/start-plan.ts';
import {
  decodeRecord,
  RECORD_BYTES,
  RECORD_WORDS,
  recordSeed,
  type RowClaim,
} from '../journal/slot-record.ts';
import {
  cleanEnd,
  encodeSlabHeader,
  encodeTableHeader,
  HEADER_BYTES,
  headerPosition,
  rowPosition,
  type TableHeader,
} from '../journal/table-header.ts';
import type { Node } from '../node/node.ts';
import type { ObjectMetadata } from '../read.ts';
import { isPlaceOf, newBlockPlace } from '../store/block-place.ts';
import type { SlotId, Store } from '../store/store.ts';
import { crc32c } from './crc32c.ts';
import { DiskFile, type AskedSync } from './disk-file.ts';
import type { EventQueue } from './event-queue.ts';
import { RowClaims, type Claim } from './row-claims.ts';

/** Rows that the table has room for. */
const MAX_ROWS = 4096;
const inputOutputError = 5;

export interface DiskWorld {
  readonly queue: EventQueue;
  delayMs(): number;
}

/** Who is told what became of what was asked. */
export type DiskEvents = Pick<
  Node,
  | 'onSlotWritten'
  | 'onSlabSynced'
  | 'onTableSynced'
  | 'onSlotVerified'
  | 'metadataFrom'
  | 'onMetadataLogCompacted'
  | 'journal'
>;

/** One life of the process over these files. */
interface Life {
  readonly node: DiskEvents;
  readonly store: Store;
  readonly memory: Uint8Array;
}

interface SlotWrite {
  readonly slot: SlotId;
  readonly memory: number;
  readonly length: number;
}

export class TestDisk implements JournalEffects {
  readonly slab: DiskFile;
  readonly table = new DiskFile(rowPosition(MAX_ROWS));
  /** Errno of the writes and syncs to come, 0 for good. */
  nextWriteErrno = 0;
  nextSlabSyncErrno = 0;
  nextTableSyncErrno = 0;
  /** What each write takes on top of the usual. */
  writeDelayMs = 0;
  /** How many of each were asked for. */
  readonly asked = { slabSyncs: 0, tableSyncs: 0, rows: 0, verifications: 0, compactions: 0 };
  readonly #world: DiskWorld;
  readonly #prng: Prng;
  #log: Uint8Array[] = [];
  /** What is logged while a new log is being made goes there too. */
  #newLog: Uint8Array[] | null = null;
  #life: Life | null = null;
  #lives = 0;
  #header: TableHeader | null = null;
  #slabSync: AskedSync | null = null;
  #tableSync: AskedSync | null = null;
  readonly #writes = new Set<SlotWrite>();
  readonly #claims = new RowClaims();

  constructor(world: DiskWorld, slabBytes: number, seed: number) {
    this.#world = world;
    this.slab = new DiskFile(slabBytes);
    this.#prng = new Prng(seed, 4242);
  }

  /** The header of the present life. */
  get header(): TableHeader {
    assert(this.#header !== null, 'the disk was opened');
    return this.#header;
  }

  /** Brings back what the files hold into an empty store, and begins a new run. */
  open(store: Store): RecoveryCounts {
    this.#lives += 1;
    const newId = { h0: this.#lives, h1: this.#prng.u32(), h2: 3, h3: 4 };
    const tableHead = this.table.read(0, HEADER_BYTES);
    const slabHead = this.slab.read(0, Math.min(HEADER_BYTES, this.slab.length));
    const found = { bytes: this.slab.length, file: 1 };
    const plan = planStart(tableHead, slabHead, found, store, newId);
    this.#header = plan.header;
    const rows = this.table.read(rowPosition(1), (MAX_ROWS - 1) * RECORD_BYTES);
    this.#claims.clear();
    if (plan.kind === 'empty') this.table.write(0, new Uint8Array(this.table.length));
    else this.#claimRows(new Int32Array(rows.buffer));
    const recovery = new Recovery(store, plan.header, this.slab.length);
    this.slab.resize(store.slabBytes);
    recovery.take(plan.kind === 'empty' ? new Int32Array(0) : new Int32Array(rows.buffer));
    this.#writeHeader(plan.header);
    this.slab.write(0, encodeSlabHeader(plan.header));
    this.table.settle();
    this.slab.settle();
    return recovery.finish();
  }

  /** Once all is quiet: every block has its row, and every row its block. */
  assertInStep(): void {
    const { store } = this.#alive();
    const place = newBlockPlace();
    const expected = newBlockPlace();
    const claim: RowClaim = { checksum: 0, run: 0 };
    const words = new Int32Array(this.table.read(0, this.table.length).buffer);
    const seed = recordSeed(this.header.cacheId);
    for (let slot = 1; slot < MAX_ROWS; slot++) {
      const state = decodeRecord(words, rowPosition(slot) / 4, slot, seed, place, claim);
      const isHeld = store.isPublished(slot);
      assert(isHeld === (state === 'valid'), 'a row for each block, and no other');
      if (!isHeld) continue;
      store.describe(slot, expected);
      assert(isPlaceOf(place, expected), 'a row speaks of the block in its slot');
    }
  }

  /** Tells what was logged, and cuts off what is torn. */
  readLog(reader: LogReader): void {
    const { cacheId } = this.header;
    const bytes = joined(this.#log);
    const { goodBytes } = readLog(bytes, cacheId, reader);
    const kept = goodBytes === 0 ? encodeLogHeader(cacheId) : bytes.slice(0, goodBytes);
    this.#log = [kept];
  }

  attach(node: DiskEvents, store: Store, memory: Uint8Array): void {
    this.#life = { node, store, memory };
  }

  /** The slab is cut, durably. It gets its length back when the store allows it and something is written. */
  cut(slabBytes: number): void {
    this.slab.resize(slabBytes);
  }

  /** Faults are over. */
  heal(): void {
    this.nextWriteErrno = 0;
    this.nextSlabSyncErrno = 0;
    this.nextTableSyncErrno = 0;
  }

  /**
   * The process dies: writes that were under way are torn, and nobody hears of anything any more. Unless it `keepsPower`, what
   * wasn't synced may be lost.
   */
  crash(keepsPower = false): void {
    const { store, memory } = this.#alive();
    for (const { slot, memory: at, length } of this.#writes) {
      if (store.fileOffset(slot) + length > this.slab.length) continue;
      this.slab.writeTorn(store.fileOffset(slot), memory.subarray(at, at + length), this.#prng);
    }
    if (!keepsPower) {
      this.slab.crash(this.#slabSync, this.#prng);
      this.table.crash(this.#tableSync, this.#prng);
    }
    const log = joined(this.#log);
    this.#log = [log.slice(0, Math.max(0, log.length - this.#prng.below(300)))];
    this.#detach();
  }

  /** Everything is durable: the run ended clean. */
  endClean(): void {
    assert(this.#alive().node.journal.levels().unflushed === 0, 'only a flushed run ends clean');
    this.#writeHeader(cleanEnd(this.header));
    this.slab.crash(null, this.#prng);
    this.table.settle();
    this.#detach();
  }

  writeSlot(slot: SlotId, memory: number, length: number): void {
    const life = this.#alive();
    const { store } = life;
    assert(length % 4096 === 0 && length <= store.slotBytes(slot), 'writes fit their slot');
    const errno = this.nextWriteErrno;
    const start = store.fileOffset(slot);
    this.#claims.assertUnclaimed({ start, end: start + length });
    const write = { slot, memory, length };
    this.#writes.add(write);
    this.#in(this.#world.delayMs() + this.writeDelayMs, life, (now) => {
      this.#regrow(store);
      // Bytes are taken as late as a disk might, so memory that is reused too early shows.
      const bytes = life.memory.slice(memory, memory + length);
      this.#writes.delete(write);
      const offset = store.fileOffset(slot);
      const isInside = offset + length <= this.slab.length;
      if (errno === 0 && isInside) this.slab.write(offset, bytes);
      else if (isInside) this.slab.writeTorn(offset, bytes, this.#prng);
      const checksum = crc32c(bytes.subarray(0, store.length(slot)));
      life.node.onSlotWritten(now, slot, isInside ? errno : diskFails, checksum);
    });
  }

  syncSlab(): void {
    assert(this.#slabSync === null, 'one slab sync at a time');
    const life = this.#alive();
    const asked = this.slab.askSync();
    const errno = this.nextSlabSyncErrno;
    this.asked.slabSyncs += 1;
    this.#slabSync = asked;
    this.#in(this.#world.delayMs(), life, (now) => {
      this.#slabSync = null;
      if (errno === 0) this.slab.finishSync(asked);
      else this.slab.failSync(asked, this.#prng);
      life.node.onSlabSynced(now, errno);
    });
  }

  writeRecord(slot: SlotId, record: Uint8Array): void {
    assert(record.length === RECORD_BYTES, 'a row is whole');
    assert(this.#tableSync === null, 'rows are written between syncs');
    this.asked.rows += 1;
    this.#claims.write(slot, this.#claimOf(slot, record));
    this.table.write(rowPosition(slot), record);
  }

  syncTable(): void {
    assert(this.#tableSync === null, 'one table sync at a time');
    const life = this.#alive();
    const asked = this.table.askSync();
    const written = this.#claims.askSync();
    const errno = this.nextTableSyncErrno;
    this.asked.tableSyncs += 1;
    this.#tableSync = asked;
    this.#in(this.#world.delayMs(), life, (now) => {
      this.#tableSync = null;
      if (errno === 0) {
        this.table.finishSync(asked);
        this.#claims.finishSync(written);
      } else {
        this.table.failSync(asked, this.#prng);
      }
      life.node.onTableSynced(now, errno);
    });
  }

  verifySlot(slot: SlotId): void {
    const life = this.#alive();
    this.asked.verifications += 1;
    this.#in(this.#world.delayMs(), life, (now) => {
      const { verdict, checksum } = this.#compare(life.store, slot);
      life.node.onSlotVerified(now, slot, verdict, checksum);
    });
  }

  logMetadata(hash: Hash128, metadata: ObjectMetadata): void {
    const entry = new Uint8Array(putBytes(metadata));
    encodePut(entry, 0, hash, metadata);
    this.#append(entry);
  }

  logForgotten(hash: Hash128): void {
    const entry = new Uint8Array(FORGOTTEN_BYTES);
    encodeForgotten(entry, 0, hash);
    this.#append(entry);
  }

  compactMetadataLog(): void {
    assert(this.#newLog === null, 'one new log at a time');
    this.asked.compactions += 1;
    this.#newLog = [encodeLogHeader(this.header.cacheId)];
    this.#compactFrom(0);
  }

  get logBytes(): number {
    return joined(this.#log).length;
  }

  /** What a row that is about to be written says; the bytes must be there by now. */
  #claimOf(slot: SlotId, record: Uint8Array): Claim | null {
    const { store } = this.#alive();
    if (record.every((byte) => byte === 0)) return null;
    const place = newBlockPlace();
    const claim: RowClaim = { checksum: 0, run: 0 };
    const words = new Int32Array(record.slice().buffer);
    const state = decodeRecord(words, 0, slot, recordSeed(this.header.cacheId), place, claim);
    assert(state === 'valid' && claim.run === this.header.run, 'rows are valid and of this run');
    const start = store.fileOffset(slot);
    const bytes = this.slab.readDurable(start, place.length);
    assert(crc32c(bytes) === claim.checksum, 'a row speaks of bytes that are durable');
    return { start, end: start + place.length };
  }

  #claimRows(words: Int32Array): void {
    const place = newBlockPlace();
    const claim: RowClaim = { checksum: 0, run: 0 };
    const seed = recordSeed(this.header.cacheId);
    for (let slot = 1; slot < MAX_ROWS; slot++) {
      const state = decodeRecord(words, (slot - 1) * RECORD_WORDS, slot, seed, place, claim);
      if (state !== 'valid') continue;
      const { extent, slotBytes, length } = place;
      const start = HEADER_BYTES + extent * this.header.extentBytes + place.place * slotBytes;
      this.#claims.write(slot, { start, end: start + length });
    }
    this.#claims.finishSync(this.#claims.askSync());
  }

  #regrow(store: Store): void {
    const { length } = this.slab;
    if (length < store.slabBytes && !store.mustStayCut(length)) this.slab.resize(store.slabBytes);
  }

  #compactFrom(from: number): void {
    const life = this.#alive();
    this.#in(this.#world.delayMs(), life, (now) => {
      const newLog = this.#newLog!;
      const next = life.node.metadataFrom(from, 3, (hash, metadata) => {
        const entry = new Uint8Array(putBytes(metadata));
        encodePut(entry, 0, hash, metadata);
        newLog.push(entry);
      });
      if (next !== 0) {
        this.#compactFrom(next);
        return;
      }
      this.#log = newLog;
      this.#newLog = null;
      life.node.onMetadataLogCompacted(now);
    });
  }

  #append(entry: Uint8Array): void {
    this.#log.push(entry);
    this.#newLog?.push(entry);
  }

  /** As the disk layer does: the row must be this slot's and this block's, and its checksum that of the bytes. */
  #compare(store: Store, slot: SlotId): { verdict: Verdict; checksum: number } {
    const place = newBlockPlace();
    const claim: RowClaim = { checksum: 0, run: 0 };
    const words = new Int32Array(this.table.read(rowPosition(slot), RECORD_BYTES).buffer);
    const seed = recordSeed(this.header.cacheId);
    const offset = store.fileOffset(slot);
    const length = store.length(slot);
    if (offset + length > this.slab.length) return { verdict: 'unreadable', checksum: 0 };
    const checksum = crc32c(this.slab.read(offset, length));
    if (decodeRecord(words, 0, slot, seed, place, claim) !== 'valid') {
      return { verdict: 'damaged', checksum: 0 };
    }
    const expected = newBlockPlace();
    store.describe(slot, expected);
    const isIntact = isPlaceOf(place, expected) && claim.checksum === checksum;
    return { verdict: isIntact ? 'intact' : 'damaged', checksum };
  }

  #writeHeader(header: TableHeader): void {
    this.#header = header;
    this.table.write(headerPosition(header), encodeTableHeader(header));
  }

  #alive(): Life {
    assert(this.#life !== null, 'a process that died does nothing');
    return this.#life;
  }

  #detach(): void {
    this.#life = null;
    this.#slabSync = null;
    this.#tableSync = null;
    this.#newLog = null;
    this.#writes.clear();
  }

  /** Later, unless the process died meanwhile. */
  #in(delayMs: number, life: Life, act: (now: number) => void): void {
    const { queue } = this.#world;
    queue.in(delayMs, () => {
      if (this.#life === life) act(queue.now);
    });
  }
}

/** The errno of a disk that fails. */
export const diskFails = inputOutputError;

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
