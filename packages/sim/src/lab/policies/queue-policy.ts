/**
 * One queue, as most caches have: FIFO, or LRU when reads move a block to its end. Blocks take their length and no more,
 * so these have the whole capacity, while slots of the real store waste some.
 */
import type { BlockPolicy, CacheSizes } from './block-policy.ts';

const MAX_BLOCKS = 2 ** 24;

export class QueuePolicy implements BlockPolicy {
  /** Bytes of each block, the next to leave first: a Map keeps the order in which keys were set. */
  readonly #blocks = new Map<number, number>();
  readonly #capacityBytes: number;
  readonly #movesOnRead: boolean;
  #bytes = 0;

  /** `movesOnRead` makes it LRU. */
  constructor(sizes: CacheSizes, movesOnRead: boolean) {
    this.#capacityBytes = sizes.capacityBytes;
    this.#movesOnRead = movesOnRead;
  }

  has(version: number, block: number): boolean {
    return this.#blocks.has(keyOf(version, block));
  }

  touch(version: number, block: number): void {
    if (!this.#movesOnRead) return;
    const key = keyOf(version, block);
    const bytes = this.#blocks.get(key)!;
    this.#blocks.delete(key);
    this.#blocks.set(key, bytes);
  }

  admits(): boolean {
    return true;
  }

  store(version: number, block: number, bytes: number): boolean {
    if (bytes > this.#capacityBytes) return false;
    this.#bytes += bytes;
    for (const [key, leaving] of this.#blocks) {
      if (this.#bytes <= this.#capacityBytes) break;
      this.#blocks.delete(key);
      this.#bytes -= leaving;
    }
    this.#blocks.set(keyOf(version, block), bytes);
    return true;
  }
}

function keyOf(version: number, block: number): number {
  return version * MAX_BLOCKS + block;
}
