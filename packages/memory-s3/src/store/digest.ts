// Running digests behind two methods, whoever computes them.
import { createHash } from 'node:crypto';

export interface Digest {
  update(bytes: Buffer): void;
  digest(): Buffer;
}

/** One of node:crypto's hashes. */
export class HashDigest implements Digest {
  readonly #hash;

  constructor(name: 'md5' | 'sha1' | 'sha256') {
    this.#hash = createHash(name);
  }

  update(bytes: Buffer): void {
    this.#hash.update(bytes);
  }

  digest(): Buffer {
    return this.#hash.digest();
  }
}
