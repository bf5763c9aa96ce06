/**
 * Object hashes and version identities of a run: mixed, not cryptographic, and with a table that leads back from an
 * identity to what it names, so that the world can say what a stored block is without asking the machines.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import { equalHash128, mix32, type Hash128 } from '@s3-accelerator/core/base/hash.ts';
import type { IdentityDigest } from '@s3-accelerator/core/node/effects.ts';

/** What a version identity names. */
export interface NamedVersion {
  readonly bucket: string;
  readonly key: string;
  readonly etag: string;
  readonly version: Readonly<Hash128>;
}

interface NamedObject {
  readonly bucket: string;
  readonly key: string;
  readonly hash: Readonly<Hash128>;
  readonly versions: Map<string, NamedVersion>;
}

export class Identities implements IdentityDigest {
  /** A run has one origin. */
  readonly originChanges = 0;
  readonly #objects = new Map<string, NamedObject>();
  /** By the first two words of the hash: who stands there is compared in full. */
  readonly #byHash = new Map<number, NamedObject>();
  readonly #byVersion = new Map<number, NamedVersion>();

  /** The hash of an object: a shared record, not to be changed. */
  hashOf(bucket: string, key: string): Readonly<Hash128> {
    return this.#object(bucket, key).hash;
  }

  version(_bucket: string, hash: Hash128, etag: string, into: Hash128): void {
    const object = this.#byHash.get(shortOf(hash));
    assert(object !== undefined, 'versions belong to objects that somebody asked for');
    const { h0, h1, h2, h3 } = this.#versionOf(object, etag).version;
    into.h0 = h0;
    into.h1 = h1;
    into.h2 = h2;
    into.h3 = h3;
  }

  objectHashMatches(bucket: string, key: string, hash: Hash128): boolean {
    return equalHash128(this.hashOf(bucket, key), hash);
  }

  /** What an identity names, null for none that was ever given out. */
  named(version: Readonly<Hash128>): NamedVersion | null {
    const named = this.#byVersion.get(shortOf(version));
    return named !== undefined && equalHash128(named.version, version) ? named : null;
  }

  #object(bucket: string, key: string): NamedObject {
    const name = `${bucket}/${key}`;
    let object = this.#objects.get(name);
    if (object === undefined) {
      object = { bucket, key, hash: digest(name, 1), versions: new Map() };
      this.#objects.set(name, object);
      assert(!this.#byHash.has(shortOf(object.hash)), 'no two objects of a run share a hash');
      this.#byHash.set(shortOf(object.hash), object);
    }
    return object;
  }

  #versionOf(object: NamedObject, etag: string): NamedVersion {
    let named = object.versions.get(etag);
    if (named === undefined) {
      const { bucket, key } = object;
      named = { bucket, key, etag, version: digest(`${bucket}/${key}?${etag}`, 2) };
      object.versions.set(etag, named);
      this.#byVersion.set(shortOf(named.version), named);
    }
    return named;
  }
}

/** 52 bits of a hash. */
function shortOf({ h0, h1 }: Readonly<Hash128>): number {
  return h0 * 0x10_0000 + (h1 >>> 12);
}

function digest(text: string, salt: number): Hash128 {
  const hash: Hash128 = { h0: salt, h1: 2, h2: 3, h3: 4 };
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    hash.h0 = mix32(hash.h0 ^ code) >>> 0;
    hash.h1 = mix32(hash.h1 + hash.h0) >>> 0;
    hash.h2 = mix32(hash.h2 ^ hash.h1) >>> 0;
    hash.h3 = mix32(hash.h3 + hash.h2) >>> 0;
  }
  return hash;
}
