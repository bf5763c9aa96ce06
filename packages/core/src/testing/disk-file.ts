/**
 * A file on a disk that keeps what was synced and may lose the rest: bytes as reads see them, and bytes as a crash would leave
 * them. A crash keeps or loses each sector that wasn't synced by itself, so writes come out whole, torn or not at all.
 */
import { assert } from '../base/assert.ts';
import type { Prng } from '../base/prng.ts';

const SECTOR = 512;

/** Sectors as they were when a sync was asked for. */
export type AskedSync = ReadonlyMap<number, Uint8Array>;

export class DiskFile {
  #seen: Uint8Array;
  #durable: Uint8Array;
  readonly #unsynced = new Set<number>();
  /** What the sync under way covers: what is cut off meanwhile gets nowhere. */
  #asked = new Map<number, Uint8Array>();

  constructor(length: number) {
    this.#seen = new Uint8Array(Math.ceil(length / SECTOR) * SECTOR);
    this.#durable = new Uint8Array(this.#seen.length);
  }

  get length(): number {
    return this.#seen.length;
  }

  /** Cuts it or appends zeros, durably. */
  resize(length: number): void {
    const resized = new DiskFile(length);
    resized.#seen.set(this.#seen.subarray(0, resized.length));
    resized.#durable.set(this.#durable.subarray(0, resized.length));
    this.#seen = resized.#seen;
    this.#durable = resized.#durable;
    for (const sectors of [this.#unsynced, this.#asked]) {
      for (const sector of sectors.keys()) {
        if (sector * SECTOR >= length) sectors.delete(sector);
      }
    }
  }

  read(offset: number, length: number): Uint8Array {
    assert(offset >= 0 && offset + length <= this.length, 'reads lie within the file');
    return this.#seen.slice(offset, offset + length);
  }

  /** What a crash would surely leave there, unless it is overwritten. */
  readDurable(offset: number, length: number): Uint8Array {
    return this.#durable.slice(offset, offset + length);
  }

  write(offset: number, bytes: Uint8Array): void {
    assert(offset >= 0 && offset + bytes.length <= this.length, 'writes lie within the file');
    this.#seen.set(bytes, offset);
    for (let at = offset; at < offset + bytes.length; at += SECTOR) this.#touch(at);
    this.#touch(offset + bytes.length - 1);
  }

  /** Some sectors of a write that was under way when the crash came. */
  writeTorn(offset: number, bytes: Uint8Array, prng: Prng): void {
    for (let at = 0; at < bytes.length; at += SECTOR) {
      if (prng.chance(0.5)) this.write(offset + at, bytes.subarray(at, at + SECTOR));
    }
  }

  /** A sync is asked for: it covers what was written so far. */
  askSync(): AskedSync {
    const asked = new Map<number, Uint8Array>();
    for (const sector of this.#unsynced) asked.set(sector, this.read(sector * SECTOR, SECTOR));
    this.#unsynced.clear();
    this.#asked = asked;
    return asked;
  }

  /** The sync worked. */
  finishSync(asked: AskedSync): void {
    for (const [sector, bytes] of asked) this.#durable.set(bytes, sector * SECTOR);
  }

  /**
   * The sync failed: some sectors got there, and the others never will, though reads still see them. An error is told once, so
   * it also stands for what was written since.
   */
  failSync(asked: AskedSync, prng: Prng): void {
    for (const [sector, bytes] of asked) {
      if (prng.chance(0.5)) this.#durable.set(bytes, sector * SECTOR);
    }
    for (const sector of this.#unsynced) if (prng.chance(0.5)) this.#unsynced.delete(sector);
  }

  /** Power goes: what was asked to be synced may have got there, and what wasn't too. */
  crash(asked: AskedSync | null, prng: Prng): void {
    if (asked !== null) this.failSync(asked, prng);
    for (const sector of this.#unsynced) {
      const at = sector * SECTOR;
      if (prng.chance(0.5)) this.#durable.set(this.#seen.subarray(at, at + SECTOR), at);
    }
    this.#unsynced.clear();
    this.#seen.set(this.#durable);
  }

  /** Everything is durable now, for preparations. */
  settle(): void {
    this.#unsynced.clear();
    this.#durable.set(this.#seen);
  }

  /** Bits turn, on the disk itself. */
  damage(offset: number): void {
    this.#seen[offset]! ^= 0x55;
    this.#durable[offset]! ^= 0x55;
  }

  #touch(offset: number): void {
    this.#unsynced.add(Math.floor(offset / SECTOR));
  }
}
