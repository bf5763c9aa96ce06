/**
 * The hashes that name objects and versions: SHA-256, so that tenants, who choose keys, can't make two of them meet.
 *
 * Truncated to 128 bits. Buckets, keys and ETags are binary strings. One instance a thread: it owns its scratch memory.
 */
import { equalHash128, type Hash128 } from '@s3-accelerator/core/base/hash.ts';
import type { IdentityDigest } from '@s3-accelerator/core/node/effects.ts';
import { Digester } from '@s3-accelerator/native/digester.ts';

const scratchBytes = 16_384;
const digestBytes = 32;

/** What a node's versions depend on, beside object and ETag. */
export interface OriginsOfTheMoment {
  /** Counts up whenever a bucket's identity may be another one. */
  readonly changes: number;
  /** Names a bucket's origin: endpoint and real bucket. */
  identity(bucket: string): string;
}

/** For a process without a node, which makes no versions. */
const none: OriginsOfTheMoment = { changes: 0, identity: () => '' };

export class ObjectHash implements IdentityDigest {
  readonly #digester = new Digester(scratchBytes);
  readonly #origins: OriginsOfTheMoment;
  readonly #probe: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };

  constructor(origins: OriginsOfTheMoment = none) {
    this.#origins = origins;
  }

  get originChanges(): number {
    return this.#origins.changes;
  }

  /** The object hash: of the bucket, with its length before it, and the key. */
  object(bucket: string, key: string, into: Hash128): void {
    const { scratch } = this.#digester;
    scratch.writeUInt32BE(bucket.length, digestBytes);
    let end = digestBytes + 4;
    end += scratch.write(bucket, end, 'latin1');
    end += scratch.write(key, end, 'latin1');
    this.#digest(end, into);
  }

  /** The object hash, as a record of its own. */
  of(bucket: string, key: string): Hash128 {
    const into = { h0: 0, h1: 0, h2: 0, h3: 0 };
    this.object(bucket, key, into);
    return into;
  }

  version(bucket: string, hash: Hash128, etag: string, into: Hash128): void {
    const { scratch } = this.#digester;
    const identity = this.#origins.identity(bucket);
    scratch.writeUInt32BE(hash.h0, digestBytes);
    scratch.writeUInt32BE(hash.h1, digestBytes + 4);
    scratch.writeUInt32BE(hash.h2, digestBytes + 8);
    scratch.writeUInt32BE(hash.h3, digestBytes + 12);
    scratch.writeUInt32BE(identity.length, digestBytes + 16);
    let end = digestBytes + 20;
    end += scratch.write(identity, end, 'utf8');
    end += scratch.write(etag, end, 'latin1');
    this.#digest(end, into);
  }

  objectHashMatches(bucket: string, key: string, hash: Hash128): boolean {
    const probe = this.#probe;
    this.object(bucket, key, probe);
    return equalHash128(probe, hash);
  }

  #digest(end: number, into: Hash128): void {
    const { scratch } = this.#digester;
    this.#digester.sha256(digestBytes, end, 0);
    into.h0 = scratch.readUInt32BE(0);
    into.h1 = scratch.readUInt32BE(4);
    into.h2 = scratch.readUInt32BE(8);
    into.h3 = scratch.readUInt32BE(12);
  }
}
