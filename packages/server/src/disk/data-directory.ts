/**
 * Opens the files of a data directory and finds out what is in them, before anybody is served.
 *
 *   lock           whoever holds its lock owns the directory, as long as it runs
 *   slab           a header, then the slots: every byte allocated beforehand
 *   slots          the slot table: a header, then a row for each slot
 *   metadata-log   what the home knows of objects
 *
 * docs/data-files.md has them byte for byte. The slab is opened twice. Reads go through the page cache, so that sendfile can
 * lend its pages to sockets. Writes bypass it with O_DIRECT, because lent pages live on in pipes and receive queues after
 * an answer looks finished: overwriting them in the page cache would change bytes that a slow client still has to receive. Where
 * the file system changes lent pages all the same, `lendsPages` is false and answers are copies.
 *
 * Everything here may wait for the disk. Errors are thrown as sentences that say what to do.
 */
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  encodeSlabHeader,
  encodeTableHeader,
  HEADER_BYTES,
  headerPosition,
  type TableHeader,
} from '@s3-accelerator/core/journal/table-header.ts';
import {
  dropFromPageCache,
  lentPagesSurvive,
  lock,
  openDirect,
  preallocate,
} from '@s3-accelerator/native/files.ts';

/** Whoever holds this file's lock owns the directory. */
export const lockName = 'lock';
const slabName = 'slab';
const tableName = 'slots';

const { O_RDWR, O_CREAT } = constants;

export class DataDirectory {
  readonly path: string;
  /** Open for reading and writing, through the page cache. */
  readonly slabRead: number;
  /** Open with O_DIRECT, where the file system has it. */
  readonly slabWrite: number;
  readonly table: number;
  readonly lendsPages: boolean;
  /** The first HEADER_BYTES of slab and table as they were found, as far as they go. */
  readonly slabHead: Uint8Array;
  readonly tableHead: Uint8Array;
  /** Bytes of the slab before it was given its size: what lies past them was lost. */
  readonly slabBytesFound: number;
  /** The slab's inode number. */
  readonly slabFile: number;
  readonly #lock: number;

  private constructor(path: string, open: (descriptor: number) => number) {
    this.path = path;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.#lock = open(openSync(join(path, lockName), O_RDWR | O_CREAT, 0o600));
    if (!lock(this.#lock)) throw new InUse();
    const slab = join(path, slabName);
    this.slabRead = open(openSync(slab, O_RDWR | O_CREAT, 0o600));
    this.table = open(openSync(join(path, tableName), O_RDWR | O_CREAT, 0o600));
    // What a failed sync of the last life dropped is in the page cache alone: rows that it cleared may be on the disk still.
    fdatasyncSync(this.table);
    dropFromPageCache(this.table, 0, 0);
    this.slabHead = firstBytes(this.slabRead);
    this.tableHead = firstBytes(this.table);
    const { size, ino } = fstatSync(this.slabRead);
    this.slabBytesFound = size;
    this.slabFile = ino;
    const survive = lentPagesSurvive(path);
    this.lendsPages = survive === 'yes';
    this.slabWrite = open(survive === 'unsupported' ? openSync(slab, O_RDWR) : openDirect(slab));
  }

  /** Opens `path`, made if need be, and leaves the files as they are. Nothing is kept open when it throws. */
  static open(path: string): DataDirectory {
    const descriptors: number[] = [];
    try {
      return new DataDirectory(path, (descriptor) => {
        descriptors.push(descriptor);
        return descriptor;
      });
    } catch (error) {
      for (const descriptor of descriptors) closeSync(descriptor);
      throw explained(path, '', error as NodeJS.ErrnoException);
    }
  }

  /**
   * Gives the slab `slabBytes`, all of them allocated. What it gains is zeros: the header that says which rows are trusted must be
   * durable before.
   */
  resizeSlab(slabBytes: number): void {
    try {
      if (this.slabBytesFound > slabBytes) ftruncateSync(this.slabRead, slabBytes);
      preallocate(this.slabRead, slabBytes);
    } catch (error) {
      const purpose = ` with ${slabBytes} bytes for cache.capacity_bytes`;
      throw explained(this.path, purpose, error as NodeJS.ErrnoException);
    }
  }

  /** Empties the table: no row of an earlier life is there any more, whatever comes next. */
  forgetRows(): void {
    ftruncateSync(this.table, 0);
    fsyncSync(this.table);
  }

  /** Begins a run: its header is in both files, durable. */
  writeHeader(header: TableHeader): void {
    writeAll(this.slabRead, encodeSlabHeader(header), 0);
    fdatasyncSync(this.slabRead);
    writeAll(this.table, encodeTableHeader(header), headerPosition(header));
    fdatasyncSync(this.table);
  }

  /** Bytes of the table. */
  tableBytes(): number {
    return fstatSync(this.table).size;
  }

  /** Fills `into` from the table; returns how many bytes there were. */
  readTable(position: number, into: Uint8Array): number {
    return readAll(this.table, into, position);
  }

  close(): void {
    for (const descriptor of [this.table, this.slabWrite, this.slabRead, this.#lock]) {
      closeSync(descriptor);
    }
  }
}

class InUse extends Error {}

/** The directory can't be used; the message says what to do. */
export class DataDirectoryError extends Error {}

/** Reads until `into` is full or the file ends. */
export function readAll(descriptor: number, into: Uint8Array, position: number): number {
  let read = 0;
  while (read < into.length) {
    const step = readSync(descriptor, into, read, into.length - read, position + read);
    if (step === 0) break;
    read += step;
  }
  return read;
}

function writeAll(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(descriptor, bytes, written, bytes.length - written, position + written);
  }
}

function firstBytes(descriptor: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  return bytes.subarray(0, readAll(descriptor, bytes, 0));
}

const advice: ReadonlyMap<string | undefined, string> = new Map([
  ['ENOSPC', 'Free space on that disk, lower the capacity, or name another node.data_dir'],
  ['EFBIG', 'Lower the capacity, or name a node.data_dir on a file system with larger files'],
  ['EROFS', 'It is mounted read-only: mount it for writing, or name another node.data_dir'],
  ['EACCES', "Let this user write there (the directory is the node's own), or name another one"],
  ['EPERM', "Let this user write there (the directory is the node's own), or name another one"],
  [
    'EIO',
    "The disk fails: the kernel's log (dmesg) says how. Replace it, or name another node.data_dir",
  ],
  ['EISDIR', 'Something else is in that place: remove it, or name another node.data_dir'],
  ['ENOTDIR', 'A part of the path is no directory: name another node.data_dir'],
]);

function explained(path: string, purpose: string, error: NodeJS.ErrnoException): Error {
  if (error instanceof InUse) {
    return new DataDirectoryError(
      `node.data_dir ${path} is used by another process: stop that one or give this one a directory of its own`,
    );
  }
  const what = `node.data_dir ${path} can't be prepared${purpose}`;
  const todo = advice.get(error.code) ?? 'Make it usable, or name another node.data_dir';
  return new DataDirectoryError(`${what}: ${error.message}. ${todo}`, { cause: error });
}
