/**
 * Whether a version is one of the origin that its bucket points at now. A gateway remembers what it was told when the bucket pointed
 * elsewhere, for ever if it is immutable, and the blocks of that time are still here: so hits are asked too.
 *
 * The digest that tells costs more than all else that the core does for a hit. So versions that it affirmed lately are remembered, each
 * with its object, until a bucket may point elsewhere. Object and version say it all: the object hash is of bucket and key.
 *
 * Memory: 32 bytes each.
 */
import { equalHash128, type Hash128 } from '../base/hash.ts';
import type { ReadRequest } from '../read.ts';
import type { IdentityDigest } from './effects.ts';

/** The most versions that are remembered, a power of two. One that takes another's place makes it be forgotten. */
const MOST = 1 << 14;
const WORDS = 8;

export type Named = Pick<ReadRequest, 'bucket' | 'hash' | 'etag' | 'version'>;

export class OriginCheck {
  readonly #digest: IdentityDigest;
  readonly #version: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
  readonly #affirmed: Int32Array;
  readonly #mask: number;
  #changes: number;

  /** For a node that knows of about so many objects. */
  constructor(digest: IdentityDigest, objects: number) {
    this.#digest = digest;
    // At least two: `#forget` fills each entry with what belongs into another.
    let remembered = 2;
    while (remembered < objects && remembered < MOST) remembered *= 2;
    this.#mask = remembered - 1;
    this.#affirmed = new Int32Array(remembered * WORDS);
    this.#changes = digest.originChanges;
    this.#forget();
  }

  /** Allocates nothing for what is remembered, and reads neither bucket nor ETag. */
  isOfItsOrigin(named: Named): boolean {
    if (this.#digest.originChanges !== this.#changes) {
      this.#changes = this.#digest.originChanges;
      this.#forget();
    }
    const { hash, version } = named;
    const words = this.#affirmed;
    const at = (version.h0 & this.#mask) * WORDS;
    const isRemembered =
      words[at] === (version.h0 | 0) &&
      words[at + 1] === (version.h1 | 0) &&
      words[at + 2] === (version.h2 | 0) &&
      words[at + 3] === (version.h3 | 0) &&
      words[at + 4] === (hash.h0 | 0) &&
      words[at + 5] === (hash.h1 | 0) &&
      words[at + 6] === (hash.h2 | 0) &&
      words[at + 7] === (hash.h3 | 0);
    if (isRemembered) return true;
    this.#digest.version(named.bucket, hash, named.etag, this.#version);
    if (!equalHash128(this.#version, version)) return false;
    words[at] = version.h0;
    words[at + 1] = version.h1;
    words[at + 2] = version.h2;
    words[at + 3] = version.h3;
    words[at + 4] = hash.h0;
    words[at + 5] = hash.h1;
    words[at + 6] = hash.h2;
    words[at + 7] = hash.h3;
    return true;
  }

  /** Each entry then holds a word that belongs into another: nothing matches it. */
  #forget(): void {
    for (let i = 0; i <= this.#mask; i++) this.#affirmed[i * WORDS] = i + 1;
  }
}
