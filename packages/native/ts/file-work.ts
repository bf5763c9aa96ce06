/**
 * Work on files, done by a reactor's threads for it: nothing here waits, and what came of each call reaches the owner inside
 * of a batch, by its token.
 */
import type { NativeReactor } from './native.ts';

/** What work on a file came to. */
export interface DiskOwner {
  /** `checksum` is a u32: CRC32C of what a write or a check was asked for, else 0. */
  onDisk(token: number, errno: number, bytes: number, checksum: number): void;
}

export class FileWork {
  /** Hears of the end of whatever is begun here. */
  owner: DiskOwner | null = null;
  readonly #native: NativeReactor;

  constructor(reactor: NativeReactor) {
    this.#native = reactor;
  }

  /** Memory for `Arena.fill`, `write` and `read`; its address must be a multiple of 4096 (`alignedMemory`). */
  registerFillMemory(memory: Uint8Array): void {
    this.#native.registerFillMemory(memory);
  }

  /** From the fill memory; offset, start and length in multiples of 4096. The owner hears the checksum of the first `checked` bytes. */
  write(
    descriptor: number,
    fileOffset: number,
    start: number,
    length: number,
    checked: number,
    token: number,
  ): void {
    this.#native.writeFile(descriptor, fileOffset, start, length, checked, token);
  }

  /** Into the fill memory; EIO when the file ends before. */
  read(descriptor: number, fileOffset: number, start: number, length: number, token: number): void {
    this.#native.readFile(descriptor, fileOffset, start, length, token);
  }

  /** The checksum of a range, read in whole pages; `fileOffset` is a multiple of 4096. EIO when the file ends before. */
  checksum(descriptor: number, fileOffset: number, length: number, token: number): void {
    this.#native.checksumFile(descriptor, fileOffset, length, token);
  }

  /** Gives the file's first `bytes` bytes their place on the disk. */
  allocate(descriptor: number, bytes: number, token: number): void {
    this.#native.allocateFile(descriptor, bytes, token);
  }

  /** fdatasync. */
  sync(descriptor: number, token: number): void {
    this.#native.syncFile(descriptor, token);
  }

  /**
   * Writes pieces of `bytes` and then makes the file durable. `pieces` has pairs of file offset and length, in the order of the
   * bytes, which are copied during the call.
   */
  writePieces(descriptor: number, bytes: Uint8Array, pieces: Float64Array, token: number): void {
    this.#native.writePieces(descriptor, bytes, pieces, token);
  }
}
