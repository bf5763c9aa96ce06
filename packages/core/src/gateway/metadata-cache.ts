/** What a gateway knows about objects: metadata, how long it may be used, and since when it holds. Bounded, LRU. */
import type { Hash128 } from '../base/hash.ts';
import { Lru } from '../base/lru.ts';
import type { ObjectMetadata } from '../read.ts';

/** A record, its strings and its place in the table, roughly. */
const entryBytes = 300;

export interface CachedMetadata {
  readonly metadata: ObjectMetadata;
  /** Usable before this moment. */
  readonly validUntil: number;
  /** S3 described the object so after this moment. */
  readonly knownAfter: number;
}

export class MetadataCache {
  readonly #seed: number;
  #entries: Lru<CachedMetadata>;

  constructor(maxEntries: number, maxBytes: number, seed: number) {
    this.#seed = seed;
    this.#entries = new Lru(maxEntries, maxBytes, seed);
  }

  get count(): number {
    return this.#entries.count;
  }

  get bytes(): number {
    return this.#entries.bytes;
  }

  /** The entry of an object, null when there is none. It may have run out. */
  get(hash: Hash128): CachedMetadata | null {
    return this.#entries.get(hash);
  }

  /** Keeps an entry, unless what is known is newer. */
  put(hash: Hash128, entry: CachedMetadata): void {
    const known = this.#entries.peek(hash);
    if (known !== null && known.knownAfter > entry.knownAfter) return;
    const { etag, headerLines } = entry.metadata;
    this.#entries.set(hash, entry, entryBytes + etag.length + headerLines.length);
  }

  clear(): void {
    const { maxEntries, maxBytes } = this.#entries;
    this.#entries = new Lru(maxEntries, maxBytes, this.#seed);
  }

  /** The version turned out to be gone: its metadata is not used again. */
  forget(hash: Hash128, etag: string): void {
    if (this.#entries.peek(hash)?.metadata.etag === etag) this.#entries.delete(hash);
  }
}
