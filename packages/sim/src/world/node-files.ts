/**
 * The files in a node's data directory, which outlive its processes: slab, slot table and metadata log, in the core's own
 * formats. What a start makes of them is here too, as the program does it.
 *
 * Beside the files the world keeps what nobody in the system knows: which runs really ended clean, and where bytes rotted.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import type { Prng } from '@s3-accelerator/core/base/prng.ts';
import {
  encodeLogHeader,
  readLog,
  type LogReader,
} from '@s3-accelerator/core/journal/metadata-log.ts';
import { Recovery } from '@s3-accelerator/core/journal/recovery.ts';
import {
  decodeRecord,
  RECORD_BYTES,
  recordSeed,
  type RowClaim,
} from '@s3-accelerator/core/journal/slot-record.ts';
import { planStart } from '@s3-accelerator/core/journal/start-plan.ts';
import {
  cleanEnd,
  decodeTableHeader,
  encodeSlabHeader,
  encodeTableHeader,
  HEADER_BYTES,
  headerPosition,
  placePosition,
  rowPosition,
  type TableHeader,
} from '@s3-accelerator/core/journal/table-header.ts';
import { newBlockPlace } from '@s3-accelerator/core/store/block-place.ts';
import type { Store } from '@s3-accelerator/core/store/store.ts';
import type { ModelDisk, ModelFile } from './disk.ts';

/** Rows handed to the recovery at a time. */
const rowsAtOnce = 64;
/** Slots begin and end at whole pages. */
const pageBytes = 4096;

export class NodeFiles {
  readonly disk: ModelDisk;
  readonly slab: ModelFile;
  readonly table: ModelFile;
  /** Bytes of the slab's file: fewer than there should be while it is cut. */
  slabBytes: number;
  /** Runs that ended clean, as a matter of fact. */
  readonly cleanRuns = new Set<number>();
  /** Where bytes of the slab were damaged and not written since: first bytes of pages. */
  readonly #rotten = new Set<number>();
  readonly #prng: Prng;
  readonly #rows: number;
  #log: Uint8Array = new Uint8Array(0);
  /** Bytes of the log that a crash leaves. */
  #durableLog = 0;

  /** The slab never gets longer than `maxSlabBytes`. */
  constructor(disk: ModelDisk, prng: Prng, maxSlabBytes: number) {
    this.disk = disk;
    this.#prng = prng;
    // No slot is smaller than a page; row 0 is no slot's.
    this.#rows = Math.ceil(maxSlabBytes / pageBytes) + 1;
    this.slab = disk.allocate(maxSlabBytes);
    this.slabBytes = 0;
    this.table = disk.allocate(rowPosition(this.#rows));
  }

  /** Damages some bytes of a page of the slab, in every image. */
  rot(offset: number): void {
    const { slab } = this;
    // The first bytes of a page are a block's, however short it is.
    const at = offset + this.#prng.below(2);
    const damaged = slab.seen[at]! ^ (1 + this.#prng.below(255));
    slab.seen[at] = damaged;
    slab.durable[at] = damaged;
    this.#rotten.add(offset - (offset % pageBytes));
  }

  /** Where in the slab the blocks begin that a start now would verify before they are served. */
  untrustedOffsets(): number[] {
    const { table } = this;
    const found = decodeTableHeader(table.seen.subarray(0, HEADER_BYTES));
    if (found.kind !== 'header') return [];
    const { cacheId, extentBytes } = found.header;
    const offsets: number[] = [];
    const place = newBlockPlace();
    const claim: RowClaim = { checksum: 0, run: 0 };
    for (let row = 1; row < this.#rows; row++) {
      const bytes = table.seen.slice(rowPosition(row), rowPosition(row + 1));
      const words = new Int32Array(bytes.buffer);
      if (decodeRecord(words, 0, row, recordSeed(cacheId), place, claim) !== 'valid') continue;
      const offset = placePosition(place, extentBytes);
      const isInside = offset + place.slotBytes <= this.slabBytes;
      if (isInside && !this.cleanRuns.has(claim.run)) offsets.push(offset);
    }
    return offsets;
  }

  /** Cuts the slab's file, or makes it longer: what it gains is zeros. */
  setSlabBytes(bytes: number): void {
    const { slab } = this;
    for (let page = bytes; page < this.slabBytes; page += pageBytes) this.#rotten.add(page);
    slab.seen.fill(0, bytes);
    slab.durable.fill(0, bytes);
    this.slabBytes = bytes;
  }

  /** Bytes of the slab were written anew. */
  written(offset: number, length: number): void {
    if (this.#rotten.size === 0) return;
    for (let page = offset; page < offset + length; page += pageBytes) this.#rotten.delete(page);
  }

  /** Whether any of these bytes of the slab rotted. */
  isRotten(offset: number, length: number): boolean {
    if (this.#rotten.size === 0) return false;
    for (let page = offset; page < offset + length; page += pageBytes) {
      if (this.#rotten.has(page)) return true;
    }
    return false;
  }

  /** A new run begins: puts back into the empty store what is in the files. Returns the run's header. */
  begin(store: Store): TableHeader {
    const { disk, slab, table } = this;
    disk.reread(table);
    const foundBytes = this.slabBytes;
    assert(store.slabBytes <= slab.seen.length, 'the slab gets as long as its store');
    const plan = planStart(
      table.seen.subarray(0, HEADER_BYTES),
      slab.seen.subarray(0, HEADER_BYTES),
      { bytes: foundBytes, file: 1 },
      store,
      this.#newId(),
    );
    const { header } = plan;
    if (plan.kind === 'empty') {
      disk.writeNow(table, 0, new Uint8Array(table.seen.length));
      this.#log = new Uint8Array(0);
      this.cleanRuns.clear();
    }
    disk.writeNow(slab, 0, encodeSlabHeader(header));
    this.#writeHeader(header);
    this.setSlabBytes(store.slabBytes);
    if (plan.kind === 'restore') this.#restore(store, header, foundBytes);
    return header;
  }

  /** Hands on what the log says. After `begin`, before the first read. */
  readLog(header: TableHeader, reader: LogReader): void {
    const { goodBytes } = readLog(this.#log, header.cacheId, reader);
    this.#log = goodBytes === 0 ? encodeLogHeader(header.cacheId) : this.#log.slice(0, goodBytes);
    this.#durableLog = this.#log.length;
  }

  appendLog(bytes: Uint8Array): void {
    const log = new Uint8Array(this.#log.length + bytes.length);
    log.set(this.#log);
    log.set(bytes, this.#log.length);
    this.#log = log;
  }

  replaceLog(bytes: Uint8Array): void {
    this.#log = bytes;
    this.#durableLog = bytes.length;
  }

  /** Everything is durable: the run's end is marked. */
  endClean(header: TableHeader): void {
    this.#writeHeader(cleanEnd(header));
    this.cleanRuns.add(header.run);
    this.#durableLog = this.#log.length;
  }

  /** The machine loses its power. */
  crash(lostShare: number): void {
    this.disk.crash(lostShare);
    const tail = this.#log.length - this.#durableLog;
    if (tail > 0) this.#log = this.#log.slice(0, this.#durableLog + this.#prng.below(tail + 1));
    this.#durableLog = this.#log.length;
  }

  #writeHeader(header: TableHeader): void {
    this.disk.writeNow(this.table, headerPosition(header), encodeTableHeader(header));
  }

  #restore(store: Store, header: TableHeader, foundBytes: number): void {
    const recovery = new Recovery(store, header, foundBytes);
    for (let row = 1; row < this.#rows; row += rowsAtOnce) {
      const end = Math.min(row + rowsAtOnce, this.#rows);
      const bytes = this.table.seen.slice(rowPosition(row), rowPosition(end));
      recovery.take(new Int32Array(bytes.buffer, 0, ((end - row) * RECORD_BYTES) / 4));
    }
    recovery.finish();
  }

  #newId(): Hash128 {
    const prng = this.#prng;
    return { h0: prng.u32(), h1: prng.u32(), h2: prng.u32(), h3: prng.u32() };
  }
}
