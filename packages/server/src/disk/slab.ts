/**
 * The slab: one preallocated file under the node's data directory that holds every stored block.
 *
 * It is opened twice. Reads go through the page cache, so that sendfile can lend its pages to sockets. Writes bypass it with O_DIRECT,
 * because lent pages live on in pipes and receive queues after an answer looks finished: overwriting them in the page cache
 * would change bytes that a slow client still has to receive. `lendsPages` says whether that holds on this file system; where it
 * doesn't, answers are copies.
 *
 * A lock keeps a second process off the directory. The slab starts empty with each run.
 */
import { closeSync, constants, fstatSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { lentPagesSurvive, lock, openDirect, preallocate } from '@s3-accelerator/native/files.ts';

/** In the data directory: whoever holds its lock owns the directory. */
export const lockFile = 'lock';

export class Slab {
  /** For reads and sendfile, through the page cache. */
  readonly readDescriptor: number;
  /** For writes, with O_DIRECT where the file system has it. */
  readonly writeDescriptor: number;
  /** Whether sent pages keep their bytes when their slot is overwritten, so that sendfile may be used. */
  readonly lendsPages: boolean;
  readonly #lock: number;

  private constructor(read: number, write: number, lockDescriptor: number, lendsPages: boolean) {
    this.readDescriptor = read;
    this.writeDescriptor = write;
    this.#lock = lockDescriptor;
    this.lendsPages = lendsPages;
  }

  /** Creates or resizes `dataDir/slab` to `bytes`, all of it allocated. Throws an Error that says what to do. */
  static open(dataDir: string, bytes: number): Slab {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const lockDescriptor = openSync(
      join(dataDir, lockFile),
      constants.O_RDWR | constants.O_CREAT,
      0o600,
    );
    if (!lock(lockDescriptor)) {
      closeSync(lockDescriptor);
      throw new Error(
        `node.data_dir ${dataDir} is used by another process: stop that one or give this one a directory of its own`,
      );
    }
    const path = join(dataDir, 'slab');
    const read = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      if (fstatSync(read).size > bytes) ftruncateSync(read, bytes);
      preallocate(read, bytes);
      const survive = lentPagesSurvive(dataDir);
      const write = survive === 'unsupported' ? openSync(path, constants.O_RDWR) : openDirect(path);
      return new Slab(read, write, lockDescriptor, survive === 'yes');
    } catch (error) {
      closeSync(read);
      closeSync(lockDescriptor);
      const { message } = error as Error;
      throw new Error(
        `${path} can't be prepared with cache.capacity_bytes = ${bytes}: ${message}. ` +
          'Free space on that disk, lower the capacity, or name another node.data_dir',
        { cause: error },
      );
    }
  }

  /** Closes the files and gives the lock back. */
  close(): void {
    closeSync(this.writeDescriptor);
    closeSync(this.readDescriptor);
    closeSync(this.#lock);
  }
}
