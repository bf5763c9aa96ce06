/** The store of the node itself, with its doorkeeper or, like a bucket that admits on first read, without. */
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import { mix32 } from '@s3-accelerator/core/base/hash.ts';
import { NO_SLOT, Store } from '@s3-accelerator/core/store/store.ts';
import type { BlockPolicy, CacheSizes } from './block-policy.ts';

export class StorePolicy implements BlockPolicy {
  readonly #store: Store;
  readonly #hasDoorkeeper: boolean;
  readonly #version: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };

  constructor(sizes: CacheSizes, hasDoorkeeper: boolean) {
    this.#store = new Store({ ...sizes, seed: { hi: 1, lo: 2 } });
    this.#hasDoorkeeper = hasDoorkeeper;
  }

  has(version: number, block: number): boolean {
    return this.#store.find(this.#identity(version), block) !== NO_SLOT;
  }

  touch(version: number, block: number): void {
    this.#store.touch(this.#store.find(this.#identity(version), block));
  }

  admits(version: number, block: number, nowMs: number): boolean {
    if (!this.#hasDoorkeeper) return true;
    return this.#store.admits(this.#identity(version), block, nowMs);
  }

  store(version: number, block: number, bytes: number): boolean {
    const slot = this.#store.reserve(this.#identity(version), block, 0, 0, bytes);
    return slot !== NO_SLOT && this.#store.publish(slot);
  }

  #identity(version: number): Hash128 {
    const identity = this.#version;
    identity.h0 = mix32(version) >>> 0;
    identity.h1 = mix32(version ^ 0x5bd1e995) >>> 0;
    identity.h2 = mix32(version ^ 0x2545f491) >>> 0;
    identity.h3 = version;
    return identity;
  }
}
