/**
 * What clients ask for: which objects there are, how large, and what a request is, drawn one after another from one stream.
 *
 * Objects of the immutable bucket are written once. Sizes lie around the edges of blocks and chunks, where mistakes are.
 */
import type { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { LayoutSizes } from '@s3-accelerator/core/layout.ts';
import { formatHttpDate } from '@s3-accelerator/core/s3/http-date.ts';
import type { Credential } from '../history/credential.ts';
import { anyState, type Oracle } from '../oracle/oracle.ts';
import { noConditions, type ReadConditions, type S3Read } from '../oracle/request.ts';
import type { NewObject } from '../oracle/version.ts';
import type { BucketOptions, WorkloadOptions } from '../options.ts';
import type { WriteRequest } from './write-request.ts';

/** A read as a client sends it, and what the client does with the answer. */
export interface ReadDraw {
  readonly request: S3Read;
  /** It holds something that the cache doesn't understand. */
  readonly passes: boolean;
  /** How long the client doesn't read when it should, 0 for not at all. */
  readonly stallMs: number;
  /** The client leaves after so long; Infinity for never. */
  readonly leaveMs: number;
}

/** Who may do what: everything, reading alone, one prefix, one bucket, nothing. */
export const credentials: readonly Credential[] = [
  { name: 'everything', grants: [{ bucket: '*', prefix: '', access: 'write' }] },
  { name: 'reader', grants: [{ bucket: '*', prefix: '', access: 'read' }] },
  {
    name: 'team a',
    grants: [
      { bucket: '*', prefix: 'a/', access: 'write' },
      { bucket: 'quick', prefix: 'b/', access: 'read' },
    ],
  },
  { name: 'quick bucket', grants: [{ bucket: 'quick', prefix: '', access: 'write' }] },
  { name: 'nothing', grants: [] },
];

export class Workload {
  readonly #prng: Prng;
  readonly #oracle: Oracle;
  readonly #buckets: readonly BucketOptions[];
  readonly #options: WorkloadOptions;
  readonly #sizes: LayoutSizes;

  constructor(
    prng: Prng,
    oracle: Oracle,
    buckets: readonly BucketOptions[],
    options: WorkloadOptions,
    sizes: LayoutSizes,
  ) {
    this.#prng = prng;
    this.#oracle = oracle;
    this.#buckets = buckets;
    this.#options = options;
    this.#sizes = sizes;
  }

  /** Objects that are there before the first request: most of them. */
  populate(now: number): void {
    for (const { name } of this.#buckets) {
      for (let i = 0; i < this.#options.keysPerBucket; i++) {
        if (this.#prng.chance(0.9)) this.#oracle.put(now, name, keyAt(i), this.#object());
      }
    }
  }

  /** Who sends the next request: mostly somebody who may. */
  credential(): number {
    return this.#prng.chance(0.85) ? 0 : this.#prng.below(credentials.length);
  }

  isWrite(): boolean {
    return this.#percent(this.#options.writePercent);
  }

  thinkMs(): number {
    return this.#options.thinkMs * 2 * this.#prng.fraction();
  }

  uploadMs(): number {
    return this.#prng.chance(0.5) ? 0 : 20 * this.#prng.fraction();
  }

  /** Whether the client of a write leaves, and after how long. */
  writeLeaveMs(): number {
    return this.#percent(this.#options.leavePercent) ? 30 * this.#prng.fraction() : Infinity;
  }

  read(): ReadDraw {
    const prng = this.#prng;
    const options = this.#options;
    const { name } = this.#bucket();
    const key = this.#key();
    const stalls = this.#percent(options.stallPercent);
    return {
      request: {
        bucket: name,
        key,
        head: this.#percent(options.headPercent),
        range: this.#percent(options.rangePercent) ? this.#range() : null,
        conditions: this.#percent(options.conditionPercent)
          ? this.#conditions(name, key)
          : noConditions,
      },
      passes: this.#percent(options.passPercent),
      stallMs: stalls ? options.stallMs * prng.fraction() : 0,
      leaveMs: this.#percent(options.leavePercent) ? 60 * prng.fraction() : Infinity,
    };
  }

  write(): WriteRequest {
    const prng = this.#prng;
    const { name: bucket, immutable } = this.#bucket();
    const key = this.#key();
    const keys = [key];
    const plain = { bucket, keys, source: null, object: null, conditions: anyState };
    if (immutable) {
      // What must never change is written once: the condition keeps two clients from doing so at the same time.
      const conditions = { ifMatch: null, ifNoneMatch: '*' as const };
      return { ...plain, operation: 'put', object: this.#object(), conditions };
    }
    switch (prng.below(10)) {
      case 0:
      case 1:
        return { ...plain, operation: 'delete' };
      case 2: {
        const others = [key, this.#key(), this.#key()];
        return { ...plain, operation: 'multi-delete', keys: [...new Set(others)] };
      }
      case 3: {
        const source = { bucket: this.#bucket().name, key: this.#key() };
        return { ...plain, operation: 'copy', source };
      }
      case 4:
        return { ...plain, operation: 'complete', object: { ...this.#object(), parts: 2 } };
      case 5: {
        const { etag } = this.#oracle.current(bucket, key);
        const conditions = { ifMatch: etag === '' ? '"none"' : etag, ifNoneMatch: null };
        return { ...plain, operation: 'put', object: this.#object(), conditions };
      }
      default:
        return { ...plain, operation: 'put', object: this.#object() };
    }
  }

  /** A write past every gateway; null when the object drawn mustn't change. */
  writeBehind(now: number): boolean {
    const { name, immutable } = this.#bucket();
    const key = this.#key();
    const object = this.#object();
    if (immutable) return false;
    if (this.#prng.chance(0.2)) this.#oracle.delete(now, name, key);
    else this.#oracle.put(now, name, key, object);
    return true;
  }

  /** Whether a write comes from elsewhere. */
  isBehind(): boolean {
    return this.#percent(this.#options.behindPercent);
  }

  #percent(percent: number): boolean {
    return this.#prng.below(100) < percent;
  }

  #bucket(): BucketOptions {
    return this.#prng.pick(this.#buckets);
  }

  /** Low numbers more often than high ones. */
  #key(): string {
    const { keysPerBucket } = this.#options;
    return keyAt(Math.min(this.#prng.below(keysPerBucket), this.#prng.below(keysPerBucket)));
  }

  #object(): NewObject {
    return {
      size: this.#size(),
      content: this.#oracle.newContent(),
      parts: 0,
      isWeak: this.#percent(this.#options.weakPercent),
    };
  }

  #size(): number {
    const { blockBytes, chunkBytes } = this.#sizes;
    if (this.#percent(this.#options.largePercent)) return 5 * chunkBytes + 2 * blockBytes + 3;
    const sizes = [0, 1, 700, blockBytes, blockBytes + 1, 3 * blockBytes + 5, 2 * chunkBytes + 9];
    return this.#prng.pick(sizes);
  }

  #range(): string {
    const prng = this.#prng;
    const { blockBytes, chunkBytes } = this.#sizes;
    const first = prng.below(prng.chance(0.5) ? blockBytes : 3 * chunkBytes);
    switch (prng.below(8)) {
      case 0:
        return `bytes=${first}-`;
      case 1:
        return `bytes=-${prng.below(3 * blockBytes)}`;
      case 2:
        return `bytes=${first}-${first + blockBytes},0-1`;
      case 3:
        return `bytes=0-${blockBytes - 1}`;
      default:
        return `bytes=${first}-${first + prng.below(3 * blockBytes)}`;
    }
  }

  #conditions(bucket: string, key: string): ReadConditions {
    const prng = this.#prng;
    const states = this.#oracle.history(bucket, key);
    const { etag, lastModified } = prng.pick(states);
    const tag = etag === '' ? '"none"' : etag;
    const date = formatHttpDate(lastModified + prng.below(2));
    switch (prng.below(6)) {
      case 0:
        return { ...noConditions, ifMatch: tag };
      case 1:
        return { ...noConditions, ifNoneMatch: `"other", ${tag}` };
      case 2:
        return { ...noConditions, ifModifiedSince: date };
      case 3:
        return { ...noConditions, ifUnmodifiedSince: date };
      case 4:
        return { ...noConditions, ifMatch: tag, ifNoneMatch: tag };
      default:
        return { ...noConditions, ifNoneMatch: tag };
    }
  }
}

function keyAt(index: number): string {
  return `${index % 2 === 0 ? 'a' : 'b'}/${index}`;
}
