/** Object hashes and version identities for tests: mixed, not cryptographic, and just as deterministic. */
import { equalHash128, mix32, type Hash128 } from '../base/hash.ts';
import type { IdentityDigest } from '../node/effects.ts';

function digest(text: string): Hash128 {
  const hash: Hash128 = { h0: 1, h1: 2, h2: 3, h3: 4 };
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    hash.h0 = mix32(hash.h0 ^ code) >>> 0;
    hash.h1 = mix32(hash.h1 + hash.h0) >>> 0;
    hash.h2 = mix32(hash.h2 ^ hash.h1) >>> 0;
    hash.h3 = mix32(hash.h3 + hash.h2) >>> 0;
  }
  return hash;
}

export function objectHash(bucket: string, key: string): Hash128 {
  return digest(`${bucket.length}:${bucket}${key}`);
}

export class TestIdentity implements IdentityDigest {
  originChanges = 0;
  readonly #origins = new Map<string, string>();

  /** Points a bucket at another origin than the first one. */
  pointAt(bucket: string, origin: string): void {
    this.#origins.set(bucket, origin);
    this.originChanges += 1;
  }

  version(bucket: string, hash: Hash128, etag: string, into: Hash128): void {
    const origin = this.#origins.get(bucket) ?? 'first';
    const { h0, h1, h2, h3 } = digest(
      `${hash.h0}.${hash.h1}.${hash.h2}.${hash.h3}.${origin}.${etag}`,
    );
    into.h0 = h0;
    into.h1 = h1;
    into.h2 = h2;
    into.h3 = h3;
  }

  objectHashMatches(bucket: string, key: string, hash: Hash128): boolean {
    return equalHash128(objectHash(bucket, key), hash);
  }
}
