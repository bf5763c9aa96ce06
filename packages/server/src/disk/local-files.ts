/**
 * The files of a data directory on a disk of this machine: slab and table by the reactor's threads, the rest by libuv's.
 *
 * Invariant: every outcome comes once, on the loop, and never during the call that asked.
 */
import { fstat, read } from 'node:fs';
import type { DiskOwner, FileWork } from '@s3-accelerator/native/file-work.ts';
import type { Reactor } from '@s3-accelerator/native/reactor.ts';
import type { DataDirectory } from './data-directory.ts';
import type { DiskFiles, Done, DoneWithChecksum, TableWrite } from './disk-files.ts';
import { errnoOf } from './errno.ts';
import type { LogFile } from './log-file.ts';

export class LocalFiles implements DiskFiles, DiskOwner {
  readonly readDescriptor: number;
  readonly lendsPages: boolean;
  readonly #directory: DataDirectory;
  readonly #log: LogFile;
  readonly #work: FileWork;
  /** Who hears of the work with a token. */
  readonly #waiting = new Map<number, DoneWithChecksum>();
  #lastToken = 0;

  /** Owns directory and log from now on. */
  constructor(directory: DataDirectory, log: LogFile, reactor: Reactor) {
    this.readDescriptor = directory.slabRead;
    this.lendsPages = directory.lendsPages;
    this.#directory = directory;
    this.#log = log;
    this.#work = reactor.files;
    this.#work.owner = this;
  }

  writeSlab(
    offset: number,
    memory: number,
    length: number,
    checked: number,
    done: DoneWithChecksum,
  ): void {
    const { slabWrite } = this.#directory;
    this.#work.write(slabWrite, offset, memory, length, checked, this.#tokenOf(done));
  }

  syncSlab(done: Done): void {
    this.#work.sync(this.#directory.slabWrite, this.#tokenOf(done));
  }

  checksumSlab(offset: number, length: number, done: DoneWithChecksum): void {
    this.#work.checksum(this.#directory.slabWrite, offset, length, this.#tokenOf(done));
  }

  measureSlab(done: (errno: number, bytes: number) => void): void {
    fstat(this.#directory.slabWrite, (error, status) => {
      done(errnoOf(error), error === null ? status.size : 0);
    });
  }

  restoreSlab(bytes: number, header: Uint8Array, done: Done): void {
    // Not the descriptor with O_DIRECT: the header is no slot, nobody is ever sent its page.
    const { slabRead } = this.#directory;
    const writeHeader = (errno: number): void => {
      if (errno !== 0) done(errno);
      else this.#writePieces(slabRead, [{ position: 0, bytes: header }], done);
    };
    this.#work.allocate(slabRead, bytes, this.#tokenOf(writeHeader));
  }

  writeTable(writes: readonly TableWrite[], done: Done): void {
    this.#writePieces(this.#directory.table, writes, done);
  }

  readTable(
    position: number,
    length: number,
    done: (errno: number, bytes: Uint8Array) => void,
  ): void {
    // Zeroed: what lies past the file's end stays so.
    const bytes = new Uint8Array(length);
    read(this.#directory.table, bytes, 0, length, position, (error) => {
      done(errnoOf(error), bytes);
    });
  }

  appendLog(bytes: Uint8Array, done: Done): void {
    this.#log.append(bytes, done);
  }

  replaceLog(pieces: Iterator<Uint8Array>, done: Done): void {
    this.#log.replace(pieces, done);
  }

  async close(): Promise<void> {
    await this.#log.close();
    this.#directory.close();
  }

  onDisk(token: number, errno: number, _bytes: number, checksum: number): void {
    const done = this.#waiting.get(token);
    this.#waiting.delete(token);
    done?.(errno, checksum);
  }

  #writePieces(descriptor: number, writes: readonly TableWrite[], done: Done): void {
    const pieces = new Float64Array(writes.length * 2);
    const bytes = new Uint8Array(writes.reduce((sum, write) => sum + write.bytes.length, 0));
    let used = 0;
    for (const [index, write] of writes.entries()) {
      pieces[index * 2] = write.position;
      pieces[index * 2 + 1] = write.bytes.length;
      bytes.set(write.bytes, used);
      used += write.bytes.length;
    }
    this.#work.writePieces(descriptor, bytes, pieces, this.#tokenOf(done));
  }

  #tokenOf(done: DoneWithChecksum): number {
    // Never nearly as many are under way at a time.
    this.#lastToken = (this.#lastToken % 0x3fff_ffff) + 1;
    this.#waiting.set(this.#lastToken, done);
    return this.#lastToken;
  }
}
