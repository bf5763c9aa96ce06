/**
 * A host's disk: files in two images, what a reader sees and what would be there after a crash.
 *
 * A write is seen once it is done, and survives a crash once a sync that began afterwards is done. A crash keeps or loses each
 * 512-byte sector of anything else on its own: of finished writes and of those under way. Reads see finished writes alone.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { EventQueue } from './event-queue.ts';

const sectorBytes = 512;

/** Bytes [start, end) of a file that a crash may lose. */
interface Unsynced {
  readonly start: number;
  readonly end: number;
  /** Counts the writes of the disk: a sync covers those before it. */
  readonly order: number;
}

/** A write that the disk has been told of and that isn't done. */
interface Pending {
  readonly file: ModelFile;
  readonly offset: number;
  /** The bytes as they are when the disk gets to them. */
  readonly bytes: () => Uint8Array;
}

export class ModelFile {
  /** What readers see. */
  readonly seen: Uint8Array;
  /** What a crash leaves. */
  readonly durable: Uint8Array;
  unsynced: Unsynced[] = [];
  /** Bytes that a failed sync dropped: readers see them until the machine goes. */
  dropped: Unsynced[] = [];

  constructor(bytes: number) {
    this.seen = new Uint8Array(bytes);
    this.durable = new Uint8Array(bytes);
  }
}

export class ModelDisk {
  /** What every operation takes on top of its usual time. */
  slownessMs = 0;
  readonly #queue: EventQueue;
  readonly #prng: Prng;
  readonly #meanMs: number;
  readonly #files: ModelFile[] = [];
  #pending = new Set<Pending>();
  #writes = 0;
  /** Counts crashes: what was under way before one never reports. */
  #era = 0;

  constructor(queue: EventQueue, prng: Prng, meanMs: number) {
    this.#queue = queue;
    this.#prng = prng;
    this.#meanMs = meanMs;
  }

  /** A file of zeros, preallocated and durable. */
  allocate(bytes: number): ModelFile {
    const file = new ModelFile(bytes);
    this.#files.push(file);
    return file;
  }

  /** Writes what `bytes` gives when the disk gets to it, then calls `done`, with 0 or an errno. */
  write(
    file: ModelFile,
    offset: number,
    bytes: () => Uint8Array,
    errno: number,
    done: (errno: number) => void,
  ): void {
    const pending: Pending = { file, offset, bytes };
    this.#pending.add(pending);
    this.#later(() => {
      this.#pending.delete(pending);
      // A write that failed may have put anything there.
      if (errno === 0 || this.#prng.chance(0.5)) this.#put(file, offset, bytes());
      done(errno);
    });
  }

  /**
   * Everything written before the call is durable once `done` is called with 0. After a sync that failed nobody knows what is:
   * some of it got there, the rest is forgotten, and a later sync that succeeds says nothing of it.
   */
  sync(file: ModelFile, errno: number, done: (errno: number) => void): void {
    const order = this.#writes;
    this.#later(() => {
      for (const range of file.unsynced) {
        if (range.order > order) continue;
        if (errno === 0 || this.#prng.chance(0.5)) this.#keep(file, range);
        else file.dropped.push(range);
      }
      file.unsynced = file.unsynced.filter((range) => range.order > order);
      done(errno);
    });
  }

  /** Several short writes and the sync that covers them, in one go. */
  writeAndSync(
    file: ModelFile,
    writes: readonly { readonly offset: number; readonly bytes: Uint8Array }[],
    errno: number,
    done: (errno: number) => void,
  ): void {
    const pending = writes.map(({ offset, bytes }): Pending => ({
      file,
      offset,
      bytes: () => bytes,
    }));
    for (const write of pending) this.#pending.add(write);
    this.#later(() => {
      for (const write of pending) this.#pending.delete(write);
      for (const { offset, bytes } of writes) this.#put(file, offset, bytes);
      this.sync(file, errno, done);
    });
  }

  /** Writes and makes durable at once, before anybody is served. */
  writeNow(file: ModelFile, offset: number, bytes: Uint8Array): void {
    file.seen.set(bytes, offset);
    file.durable.set(bytes, offset);
  }

  /** Makes durable what can be, and reads what is there: bytes that a failed sync dropped were in the page cache alone. */
  reread(file: ModelFile): void {
    for (const range of file.unsynced) this.#keep(file, range);
    file.unsynced = [];
    file.dropped = [];
    file.seen.set(file.durable);
  }

  /** `done` after the time that a read takes. */
  read(done: () => void): void {
    this.#later(done);
  }

  /** The power goes: nothing under way reports, and each unsynced sector is lost with this probability. */
  crash(lostShare: number): void {
    this.#era += 1;
    for (const { file, offset, bytes } of this.#pending) {
      const source = bytes();
      const end = Math.min(offset + source.length, file.seen.length);
      for (let at = offset; at < end; at += sectorBytes) {
        if (this.#prng.chance(lostShare)) continue;
        const sector = source.subarray(at - offset, Math.min(at + sectorBytes, end) - offset);
        file.seen.set(sector, at);
        file.durable.set(sector, at);
      }
    }
    this.#pending = new Set();
    for (const file of this.#files) this.#settle(file, lostShare);
  }

  /** The process goes and the machine stays: what it wrote is seen by its next life, what is under way may get there. */
  abandon(): void {
    this.#era += 1;
    for (const { file, offset, bytes } of this.#pending) {
      if (this.#prng.chance(0.5)) this.#put(file, offset, bytes());
    }
    this.#pending = new Set();
  }

  #settle(file: ModelFile, lostShare: number): void {
    for (const { start, end } of file.unsynced) {
      for (let at = start; at < end; at += sectorBytes) {
        const to = Math.min(at + sectorBytes, end);
        if (this.#prng.chance(lostShare)) file.seen.set(file.durable.subarray(at, to), at);
        else file.durable.set(file.seen.subarray(at, to), at);
      }
    }
    for (const { start, end } of file.dropped) {
      file.seen.set(file.durable.subarray(start, end), start);
    }
    file.unsynced = [];
    file.dropped = [];
  }

  #put(file: ModelFile, offset: number, bytes: Uint8Array): void {
    const end = offset + bytes.length;
    assert(end <= file.seen.length, 'a write stays within its file');
    file.seen.set(bytes, offset);
    this.#writes += 1;
    file.unsynced.push({ start: offset, end, order: this.#writes });
  }

  #keep(file: ModelFile, { start, end }: Unsynced): void {
    file.durable.set(file.seen.subarray(start, end), start);
  }

  #later(act: () => void): void {
    const era = this.#era;
    const usual = this.#meanMs * 2 * this.#prng.fraction();
    this.#queue.in(usual + this.slownessMs, () => {
      if (era === this.#era) act();
    });
  }
}
