/**
 * A dataset's objects: number → key, size and identity, all computed, so that a billion objects take no memory.
 *
 * Keys are numbered with a fixed width, so their order is the numbers' order. Sizes use integers only: they are the same on
 * every machine.
 */
import { hashText, mix32, spread } from '@s3-accelerator/core/base/hash.ts';
import type { DatasetPlan, SizeChoice } from '../plan/plan.ts';

const keyDigits = 9;

export class Dataset {
  readonly bucket: string;
  readonly prefix: string;
  readonly objects: number;
  readonly #salt: number;
  readonly #sizes: readonly SizeChoice[];
  readonly #totalWeight: number;

  constructor(plan: DatasetPlan) {
    this.bucket = plan.bucket;
    this.prefix = plan.prefix;
    this.objects = plan.objects;
    this.#salt = hashText(`${plan.seed} ${plan.bucket}/${plan.prefix}`);
    this.#sizes = plan.sizes;
    this.#totalWeight = plan.sizes.reduce((sum, { weight }) => sum + weight, 0);
  }

  key(object: number): string {
    return `${this.prefix}${String(object).padStart(keyDigits, '0')}`;
  }

  /** What the object's bytes follow from. */
  identity(object: number): number {
    return mix32(this.#salt ^ mix32(object + 0x7f4a7c15));
  }

  /** In bytes. */
  size(object: number): number {
    const draw = mix32(this.identity(object) ^ 0x5bd1e995) >>> 0;
    let ticket = Math.floor((draw * this.#totalWeight) / 2 ** 32);
    let at = 0;
    while (ticket >= this.#sizes[at]!.weight) ticket -= this.#sizes[at++]!.weight;
    return between(this.#sizes[at]!, mix32(draw + 1), mix32(draw + 2));
  }
}

/** A size from first to last: a doubling first, each as likely as the other, and then any size within it. */
function between({ firstBytes, lastBytes }: SizeChoice, one: number, two: number): number {
  if (firstBytes === lastBytes) return firstBytes;
  let doublings = 1;
  while (firstBytes * 2 ** doublings < lastBytes) doublings++;
  const doubling = spread(one, doublings);
  const low = firstBytes * 2 ** doubling;
  const high = doubling === doublings - 1 ? lastBytes : 2 * low - 1;
  return low + Math.floor(((two >>> 0) * (high - low + 1)) / 2 ** 32);
}
