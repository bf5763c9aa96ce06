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

export class ObjectHash implements IdentityDigest {
  readonly #digester = new Digester(scratchBytes);
  readonly #originIdentity: (bucket: string) => string;
  readonly #probe: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };

  /** `originIdentity` names a bucket's origin: endpoint and real bucket. A process without a node gives ''. */
  constructor(originIdentity: (bucket: string) => string) {
    this.#originIdentity = originIdentity;
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
    const identity = this.#originIdentity(bucket);
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
