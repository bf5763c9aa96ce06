/**
 * Which blocks are let into the store: those of buckets that admit on first read, and else those whose last read is
 * within the doorkeeper's window. Asking marks the block as read, so each read of a block asks once.
 */
import type { Hash128 } from '../base/hash.ts';
import type { Store } from '../store/store.ts';
import type { PolicyOf } from './policy.ts';

export class Admission {
  readonly #store: Store;
  readonly #policyOf: PolicyOf;

  constructor(store: Store, policyOf: PolicyOf) {
    this.#store = store;
    this.#policyOf = policyOf;
  }

  /** A block is read: whether it is to be stored. */
  admits(now: number, bucket: string, version: Hash128, block: number): boolean {
    const wasSeen = this.#store.admits(version, block, now);
    return wasSeen || this.#policyOf(bucket).admitOnFirstRead;
  }
}
