/**
 * Which blocks are let into the store: those of buckets that admit on first read, and else those whose last read is
 * within the doorkeeper's window.
 *
 * A block counts as read when a reader comes for its bytes, not when a fill is planned that may be given up before: what one
 * slow reader makes us fetch twice isn't read twice.
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

  /** Whether a block would be stored if it were read now. */
  wouldAdmit(now: number, bucket: string, version: Hash128, block: number): boolean {
    return this.#store.wasRead(version, block, now) || this.#policyOf(bucket).admitOnFirstRead;
  }

  /** A block is read: whether it is to be stored. Each read of a block asks once. */
  admits(now: number, bucket: string, version: Hash128, block: number): boolean {
    const wasSeen = this.#store.admits(version, block, now);
    return wasSeen || this.#policyOf(bucket).admitOnFirstRead;
  }
}
