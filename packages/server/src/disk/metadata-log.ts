/**
 * The metadata log while the node runs: entries are encoded here and appended; most of it being out of date, it is replaced.
 *
 * Nothing is promised of an entry. After a fault nothing more can be appended (log-file.ts), so the whole log is written anew,
 * after a while.
 */
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import {
  forgottenEntry,
  newLog,
  putEntry,
  type MetadataFrom,
} from '@s3-accelerator/core/journal/metadata-log.ts';
import type { ObjectMetadata } from '@s3-accelerator/core/read.ts';
import type { DiskFiles } from './disk-files.ts';

export interface MetadataLogOptions {
  readonly files: DiskFiles;
  readonly cacheId: Readonly<Hash128>;
  readonly metadataFrom: MetadataFrom;
  /** A replacement ended, well or not. */
  readonly onReplaced: () => void;
  readonly onFault: (errno: number) => void;
}

/** Objects of a replacement that are encoded at a time: bounds what the loop is held up by. */
const objectsAtATime = 256;
const retryMs = 30_000;

export class MetadataLog {
  readonly #options: MetadataLogOptions;
  #isReplacing = false;
  #isBroken = false;
  #retryAt = 0;
  readonly #appended = (errno: number): void => {
    if (errno === 0) return;
    this.#isBroken = true;
    this.#options.onFault(errno);
  };

  constructor(options: MetadataLogOptions) {
    this.#options = options;
  }

  put(hash: Readonly<Hash128>, metadata: ObjectMetadata): void {
    this.#options.files.appendLog(putEntry(hash, metadata), this.#appended);
  }

  forgotten(hash: Readonly<Hash128>): void {
    this.#options.files.appendLog(forgottenEntry(hash), this.#appended);
  }

  /** Writes the log anew, out of everything that is known. */
  replace(): void {
    if (this.#isReplacing) return;
    this.#isReplacing = true;
    const { files, cacheId, metadataFrom } = this.#options;
    files.replaceLog(newLog(cacheId, metadataFrom, objectsAtATime), (errno) => {
      this.#isReplacing = false;
      this.#isBroken = errno !== 0;
      if (errno !== 0) this.#options.onFault(errno);
      this.#options.onReplaced();
    });
  }

  /** Call it now and then, `now` in milliseconds. */
  tick(now: number): void {
    if (!this.#isBroken || this.#isReplacing || now < this.#retryAt) return;
    this.#retryAt = now + retryMs;
    this.replace();
  }
}
