/**
 * What the lab compares: who decides which blocks a cache keeps.
 *
 * A block is named by the version of its object and its index. The lab asks `has` and `admits` for all blocks of a GET
 * first and stores them afterwards, as a node does.
 */
export interface BlockPolicy {
  /** Whether the block is there. Not a read. */
  has(version: number, block: number): boolean;
  /** Reads a block that is there. */
  touch(version: number, block: number): void;
  /** Reads a block that isn't there: whether it is to be stored. */
  admits(version: number, block: number, nowMs: number): boolean;
  /** Stores a block of 1 byte to a block's size; false when there was no room to be made. */
  store(version: number, block: number, bytes: number): boolean;
}

/** The sizes of a cache, in bytes. */
export interface CacheSizes {
  readonly capacityBytes: number;
  readonly blockBytes: number;
}
