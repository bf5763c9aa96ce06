/**
 * A node's files, as the node touches them while it runs: the one interface that everything written passes through, so that a
 * test can stand in between, record what was written and take back what wasn't durable yet.
 *
 * No call waits for a disk. Outcomes come back on the loop, later, as errno numbers (0 is success). Offsets are those of the
 * file itself, its header included. What is read at start, before anybody is served, is opened by data-directory.ts.
 */

/** Bytes and where they go in the slot table's file. */
export interface TableWrite {
  readonly position: number;
  readonly bytes: Uint8Array;
}

export type Done = (errno: number) => void;
export type DoneWithChecksum = (errno: number, checksum: number) => void;

/** The slab, as answers are made of it. */
export interface ReadableSlab {
  /** For `sendfile` and reads, through the page cache. */
  readonly readDescriptor: number;
  /** Whether sent pages keep their bytes when their slot is overwritten, so that `sendfile` may be used. */
  readonly lendsPages: boolean;
}

export interface DiskFiles extends ReadableSlab {
  /**
   * Writes `length` bytes of the fill memory to the slab, past the page cache; all in multiples of 4096. The CRC32C of the
   * first `checked` bytes comes along. Never makes the file longer: EIO.
   */
  writeSlab(
    offset: number,
    memory: number,
    length: number,
    checked: number,
    done: DoneWithChecksum,
  ): void;
  /** Makes durable what was reported written to the slab before this call. */
  syncSlab(done: Done): void;
  /** The CRC32C of a range of the slab, asked of the disk itself; `offset` is a multiple of 4096. */
  checksumSlab(offset: number, length: number, done: DoneWithChecksum): void;
  /** Bytes that the slab has now: fewer than it was opened with when somebody cut it. */
  measureSlab(done: (errno: number, bytes: number) => void): void;
  /** Gives a slab that was cut its length, its place on the disk and its header back, durably. */
  restoreSlab(bytes: number, header: Uint8Array, done: Done): void;

  /** Writes to the slot table, in order, and makes it durable. The bytes are taken during the call. */
  writeTable(writes: readonly TableWrite[], done: Done): void;
  /** Reads `length` bytes of the slot table; what lies past its end reads as zeros. */
  readTable(
    position: number,
    length: number,
    done: (errno: number, bytes: Uint8Array) => void,
  ): void;

  /**
   * Appends to the metadata log, in order; not made durable. The bytes are kept until written. After a failure nothing more is
   * appended until `replaceLog` worked.
   */
  appendLog(bytes: Uint8Array, done: Done): void;
  /**
   * Writes another metadata log beside the old one, from pieces that are asked for one by one, each when the one before it was
   * written, and from what is appended meanwhile, and puts it in the old one's place. One at a time.
   */
  replaceLog(pieces: Iterator<Uint8Array>, done: Done): void;

  /** Closes the files and gives the lock back. Nothing is under way any more but the log's last bytes. */
  close(): Promise<void>;
}

/** Puts something between the node and its files, for tests: `start` takes one. */
export type WrapFiles = (files: DiskFiles, dataDir: string) => DiskFiles;
