/**
 * How a node treats its buckets: where they point, and how they are cached. And the mark that stands for both: what gateways remember of
 * objects holds for as long as it is the same (protocol/bucket-mark.ts).
 *
 * The mark is of what the settings say, not of how often they changed: nodes that agree have the same, and so has each of their lives.
 */
import { createHash } from 'node:crypto';
import type { BucketPolicy } from '@s3-accelerator/core/node/policy.ts';
import type { CacheConfig } from '../config/config.ts';
import type { NodeOrigins } from './node-origins.ts';

export class BucketSettings {
  #mark = 0;
  #cache: CacheConfig;
  readonly #origins: NodeOrigins;
  readonly #listeners: ((mark: number) => void)[] = [];

  /** Goes by `origins` as they change. */
  constructor(origins: NodeOrigins, cache: CacheConfig) {
    this.#origins = origins;
    this.#cache = cache;
    origins.onReplaced = () => {
      this.#update();
    };
    this.#update();
  }

  /** Stands for all settings, 0 as long as not all origins are known. */
  get mark(): number {
    return this.#mark;
  }

  policyOf(bucket: string): BucketPolicy {
    return this.#cache.buckets.get(bucket) ?? this.#cache.defaultPolicy;
  }

  /** Policies are these from now on. */
  reload(cache: CacheConfig): void {
    this.#cache = cache;
    this.#update();
  }

  /** Is told the mark whenever it is another one. */
  onChange(listener: (mark: number) => void): void {
    this.#listeners.push(listener);
  }

  #update(): void {
    const { current } = this.#origins;
    // While a service that knows more is silent, the settings are what they were when it spoke.
    if (!current.isWhole) return;
    const mark = markOf(current.allIdentities(), this.#cache);
    if (mark === this.#mark) return;
    this.#mark = mark;
    for (const listener of this.#listeners) listener(mark);
  }
}

/** 48 bits, at least 1. Of policies what gateways hear of: how long metadata holds. */
function markOf(identities: string, { buckets, defaultPolicy }: CacheConfig): number {
  const named = [...buckets].sort(([a], [b]) => (a < b ? -1 : 1));
  const policies = [['', defaultPolicy] as const, ...named].map(
    ([bucket, { immutable, ttlMs }]) => [bucket, immutable, ttlMs],
  );
  const digest = createHash('sha256')
    .update(`${identities}\n${JSON.stringify(policies)}`)
    .digest();
  return Math.max(1, digest.readUIntBE(0, 6));
}
