/**
 * The metadata log as a file that grows at its end and is replaced now and then by a shorter one.
 *
 * Nothing waits for a disk: what is appended gathers for `gatherMs`, or while a write is under way, and goes with the next
 * one: a write costs the loop a wake-up of another thread, too much for each object that is learnt. Gathering more than
 * `maxPendingBytes` is a fault like a failed write: a disk so slow can't be kept up with. After a fault the file may end in
 * the middle of an entry, and what came behind that would never be read, so nothing more is appended until the file was
 * replaced.
 *
 * A replacement is written beside, made durable and renamed. What is appended meanwhile goes to both files, so that neither
 * a crash before the rename nor the rename itself loses any.
 *
 *     appending ──fault──▶ broken ──replaced──▶ appending
 */
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Done } from './disk-files.ts';
import { errnoOf } from './errno.ts';

export const logName = 'metadata-log';
const replacementName = 'metadata-log.new';

const maxPendingBytes = 64 << 20;
const gatherMs = 200;
/** As many are written at once. */
const enoughBytes = 256 << 10;

/** Bytes on their way to the end of one file. */
class Tail {
  readonly file: FileHandle;
  #isBroken = false;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #waiting: Done[] = [];
  #gathering: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;

  constructor(file: FileHandle) {
    this.file = file;
  }

  append(bytes: Uint8Array, done: Done): void {
    this.#isBroken ||= this.#pendingBytes + bytes.length > maxPendingBytes;
    if (this.#isBroken) {
      setImmediate(done, constants.errno.EIO);
      return;
    }
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    this.#waiting.push(done);
    if (this.#writing !== null) return;
    if (this.#pendingBytes >= enoughBytes) this.flush();
    else this.#gathering ??= setTimeout(() => this.flush(), gatherMs);
  }

  /** Writes what has gathered, without waiting for more. */
  flush(): void {
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#gathering = null;
    if (this.#pending.length > 0) this.#writing ??= this.#writeAll();
  }

  /** Resolves once all that was appended is written, or never will be. */
  async idle(): Promise<void> {
    this.flush();
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#pending.length > 0) {
      const bytes = Buffer.concat(this.#pending);
      const waiting = this.#waiting;
      this.#pending = [];
      this.#waiting = [];
      let errno = 0;
      try {
        if (!this.#isBroken) await this.file.appendFile(bytes);
      } catch (error) {
        errno = errnoOf(error as NodeJS.ErrnoException);
        this.#isBroken = true;
      }
      this.#pendingBytes -= bytes.length;
      for (const done of waiting) done(this.#isBroken ? errno || constants.errno.EIO : 0);
    }
    this.#writing = null;
  }
}

export class LogFile {
  readonly #directory: string;
  #tail: Tail;
  /** The one that will take its place, and the work on it. */
  #replacement: Tail | null = null;
  #replacing: Promise<void> = Promise.resolve();
  #isClosing = false;

  private constructor(directory: string, tail: Tail) {
    this.#directory = directory;
    this.#tail = tail;
  }

  static async open(directory: string): Promise<LogFile> {
    return new LogFile(directory, new Tail(await open(join(directory, logName), 'a', 0o600)));
  }

  append(bytes: Uint8Array, done: Done): void {
    this.#replacement?.append(bytes, () => undefined);
    this.#tail.append(bytes, done);
  }

  replace(pieces: Iterator<Uint8Array>, done: Done): void {
    this.#replacing = this.#replace(pieces).then(
      () => {
        done(0);
      },
      (error: unknown) => {
        done(errnoOf(error as NodeJS.ErrnoException));
      },
    );
  }

  /** Gives a replacement up that isn't done. What was appended is in the file. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#replacing;
    await this.#tail.idle();
    await this.#tail.file.close();
  }

  async #replace(pieces: Iterator<Uint8Array>): Promise<void> {
    const path = join(this.#directory, replacementName);
    await rm(path, { force: true });
    const replacement = new Tail(await open(path, 'a', 0o600));
    this.#replacement = replacement;
    try {
      for (let piece = pieces.next(); piece.done !== true; piece = pieces.next()) {
        await appended(replacement, piece.value);
        if (this.#isClosing) throw failure(constants.errno.ECANCELED);
      }
      await replacement.idle();
      await replacement.file.datasync();
      await rename(path, join(this.#directory, logName));
    } catch (error) {
      this.#replacement = null;
      await replacement.idle();
      await replacement.file.close();
      await rm(path, { force: true });
      throw error;
    }
    const former = this.#tail;
    this.#tail = replacement;
    this.#replacement = null;
    await former.idle();
    await former.file.close();
  }
}

/** Resolves when these bytes are in the file. Rejects with the errno. */
function appended(tail: Tail, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    tail.append(bytes, (errno) => {
      if (errno === 0) resolve();
      else reject(failure(errno));
    });
    tail.flush();
  });
}

function failure(errno: number): Error {
  return Object.assign(new Error('the metadata log could not be written'), { errno });
}
