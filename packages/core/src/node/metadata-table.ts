/**
 * What a home knows about its objects, and when S3 last confirmed it: counted from sending the request that confirmed it,
 * so that an age is never too small. Bounded, least recently used out first.
 *
 * Filed under the object hash. The version in the metadata names the origin too, so an entry of a bucket that meanwhile
 * points elsewhere is recognised and not used.
 *
 * What changes is logged, so that a restart knows it. Nobody knows what happened meanwhile: what comes back from the log counts
 * as confirmed long ago, so it is confirmed again before it is used, unless its bucket is immutable. Once more than half of the
 * log is out of date it is written anew.
 */
import { equalHash128, type Hash128 } from '../base/hash.ts';
import { Lru } from '../base/lru.ts';
import {
  FORGOTTEN_BYTES,
  MAX_LOG_ENTRY_BYTES,
  putBytes,
  type LogReader,
} from '../journal/metadata-log.ts';
import type { ObjectMetadata } from '../read.ts';
import type { IdentityDigest, NodeEffects } from './effects.ts';

/** A record, its strings and its place in the table, roughly. */
const entryBytes = 300;
/** The moment at which restored metadata counts as confirmed: centuries before any clock of a process begins. */
const longAgo = -(2 ** 43);
/** A log below this is left as it is, in bytes. */
const minCompactedBytes = 1024 * 1024;

type LogEffects = Pick<NodeEffects, 'logMetadata' | 'logForgotten' | 'compactMetadataLog'>;

export interface KnownMetadata {
  readonly metadata: ObjectMetadata;
  readonly confirmedAt: number;
}

export class MetadataTable implements LogReader {
  readonly #entries: Lru<KnownMetadata>;
  readonly #digest: IdentityDigest;
  readonly #effects: LogEffects;
  readonly #version: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
  /** Bytes of the log's entries. */
  #logBytes = 0;
  #isCompacting = false;

  constructor(
    maxEntries: number,
    maxBytes: number,
    seed: number,
    digest: IdentityDigest,
    effects: LogEffects,
  ) {
    this.#entries = new Lru(maxEntries, maxBytes, seed);
    this.#digest = digest;
    this.#effects = effects;
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
    this.drop(hash);
    return null;
  }

  /** Learns what an object is. Metadata that is only confirmed, the very record, isn't logged again. */
  keep(hash: Hash128, metadata: ObjectMetadata, confirmedAt: number): void {
    const isConfirmed = this.#entries.peek(hash)?.metadata === metadata;
    this.#set(hash, metadata, confirmedAt);
    const bytes = putBytes(metadata);
    if (isConfirmed || bytes > MAX_LOG_ENTRY_BYTES) return;
    this.#effects.logMetadata(hash, metadata);
    this.#logged(bytes);
  }

  /** Forgets an object. */
  drop(hash: Hash128): void {
    if (!this.#entries.delete(hash)) return;
    this.#effects.logForgotten(hash);
    this.#logged(FORGOTTEN_BYTES);
  }

  /** Forgets an object if what is known of it is this version, which turned out to be gone. */
  dropVersion(hash: Hash128, etag: string): void {
    if (this.#entries.peek(hash)?.metadata.etag === etag) this.drop(hash);
  }

  /** What the log of earlier runs says, in its order, before the node serves. */
  put(hash: Hash128, metadata: ObjectMetadata): void {
    this.#set(hash, metadata, longAgo);
    this.#logBytes += putBytes(metadata);
  }

  forgotten(hash: Hash128): void {
    this.#entries.delete(hash);
    this.#logBytes += FORGOTTEN_BYTES;
  }

  /**
   * For a new log: shows up to `limit` entries from `from` on (0 to begin) and returns where to go on, 0 when that was all. Entries
   * that come or go in between are logged as they do.
   */
  visit(
    from: number,
    limit: number,
    each: (hash: Hash128, metadata: ObjectMetadata) => void,
  ): number {
    return this.#entries.visit(from, limit, (hash, { metadata }) => {
      if (putBytes(metadata) <= MAX_LOG_ENTRY_BYTES) each(hash, metadata);
    });
  }

  /** The new log is in place, or couldn't be made: then the next one is tried once it has doubled again. */
  onCompacted(): void {
    this.#isCompacting = false;
  }

  #set(hash: Hash128, metadata: ObjectMetadata, confirmedAt: number): void {
    const weight = entryBytes + metadata.etag.length + metadata.headerLines.length;
    this.#entries.set(hash, { metadata, confirmedAt }, weight);
  }

  #logged(bytes: number): void {
    this.#logBytes += bytes;
    // A little more than what their entries in a log take.
    const liveBytes = this.#entries.bytes;
    if (this.#isCompacting || this.#logBytes <= 2 * liveBytes + minCompactedBytes) return;
    this.#isCompacting = true;
    this.#logBytes = liveBytes;
    this.#effects.compactMetadataLog();
  }
}
