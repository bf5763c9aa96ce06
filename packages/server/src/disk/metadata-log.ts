/**
 * The metadata log while the node runs: entries are encoded here and appended; most of it being out of date, it is replaced.
 *
 * Nothing is promised of an entry. After a fault nothing more can be appended (log-file.ts), so the whole log is written anew,
 * after a while.
 */
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import {
  encodeForgotten,
  encodeLogHeader,
  encodePut,
  FORGOTTEN_BYTES,
  putBytes,
} from '@s3-accelerator/core/journal/metadata-log.ts';
import type { ObjectMetadata } from '@s3-accelerator/core/read.ts';
import type { DiskFiles } from './disk-files.ts';

/**
 * What the log is to know: shows about `limit` objects from `from` on (0 to begin), and returns where to go on, 0 when that was
 * all. Hashes are reused.
 */
export type MetadataFrom = (
  from: number,
  limit: number,
  each: (hash: Hash128, metadata: ObjectMetadata) => void,
) => number;

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
    this.#options.files.appendLog(putOf(hash, metadata), this.#appended);
  }

  forgotten(hash: Readonly<Hash128>): void {
    const bytes = new Uint8Array(FORGOTTEN_BYTES);
    encodeForgotten(bytes, 0, hash);
    this.#options.files.appendLog(bytes, this.#appended);
  }

  /** Writes the log anew, out of everything that is known. */
  replace(): void {
    if (this.#isReplacing) return;
    this.#isReplacing = true;
    this.#options.files.replaceLog(this.#pieces(), (errno) => {
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

  *#pieces(): Generator<Uint8Array> {
    yield encodeLogHeader(this.#options.cacheId);
    let from = 0;
    do {
      const entries: Uint8Array[] = [];
      from = this.#options.metadataFrom(from, objectsAtATime, (hash, metadata) => {
        entries.push(putOf(hash, metadata));
      });
      yield Buffer.concat(entries);
    } while (from !== 0);
  }
}

function putOf(hash: Readonly<Hash128>, metadata: ObjectMetadata): Uint8Array {
  const bytes = new Uint8Array(putBytes(metadata));
  encodePut(bytes, 0, hash, metadata);
  return bytes;
}
