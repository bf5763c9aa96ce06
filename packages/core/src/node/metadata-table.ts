/**
 * What a home knows about its objects, and when S3 last confirmed it: counted from sending the request that confirmed it,
 * so that an age is never too small. Bounded, least recently used out first.
 *
 * Filed under the object hash. The version in the metadata names the origin too, so an entry of a bucket that meanwhile
 * points elsewhere is recognised and not used.
 */
import { equalHash128, type Hash128 } from '../base/hash.ts';
import { Lru } from '../base/lru.ts';
import type { ObjectMetadata } from '../read.ts';
import type { IdentityDigest } from './effects.ts';

/** A record, its strings and its place in the table, roughly. */
const entryBytes = 300;

export interface KnownMetadata {
  readonly metadata: ObjectMetadata;
  readonly confirmedAt: number;
}

export class MetadataTable {
  readonly #entries: Lru<KnownMetadata>;
  readonly #digest: IdentityDigest;
  readonly #version: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };

  constructor(maxEntries: number, maxBytes: number, seed: number, digest: IdentityDigest) {
    this.#entries = new Lru(maxEntries, maxBytes, seed);
    this.#digest = digest;
  }

  get count(): number {
    return this.#entries.count;
  }

  get bytes(): number {
    return this.#entries.bytes;
  }

  /** What is known of an object at its bucket's present origin, however old; null for nothing. */
  get(bucket: string, hash: Hash128): KnownMetadata | null {
    const entry = this.#entries.get(hash);
    if (entry === null) return null;
    this.#digest.version(bucket, hash, entry.metadata.etag, this.#version);
    if (equalHash128(this.#version, entry.metadata.version)) return entry;
    this.#entries.delete(hash);
    return null;
  }

  put(hash: Hash128, metadata: ObjectMetadata, confirmedAt: number): void {
    const weight = entryBytes + metadata.etag.length + metadata.headerLines.length;
    this.#entries.set(hash, { metadata, confirmedAt }, weight);
  }

  /** Forgets an object. */
  drop(hash: Hash128): void {
    this.#entries.delete(hash);
  }

  /** Forgets an object if what is known of it is this version, which turned out to be gone. */
  dropVersion(hash: Hash128, etag: string): void {
    if (this.#entries.peek(hash)?.metadata.etag === etag) this.#entries.delete(hash);
  }
}
