/**
 * How an object is cut: into blocks (fill, storage, eviction) and chunks (placement), and which of
 * them the home keeps.
 *
 * The home rule: chunk 0 and every block that overlaps the object's last 16 MiB live on the home,
 * and small objects (up to 32 MiB) wholly. Footers and small objects then cost one node; the middle
 * of large objects spreads out.
 *
 * Positions and sizes reach 5 TiB, beyond 32 bits: Number arithmetic only, no shifts.
 */
import { assert } from './base/assert.ts';

/** The largest object that S3 has, in bytes. */
export const MAX_OBJECT_BYTES = 5 * 1024 ** 4;

const MIB = 1 << 20;

export interface LayoutSizes {
  /** Bytes of a block: a power of two. */
  readonly blockBytes: number;
  /** Bytes of a chunk: a multiple of the block. */
  readonly chunkBytes: number;
  /** The object's last bytes that the home keeps. */
  readonly tailBytes: number;
  /** Objects up to this many bytes live wholly on their home. */
  readonly wholeBytes: number;
}

/** The sizes of every real cluster; the simulator has smaller ones. */
export const DEFAULT_SIZES: LayoutSizes = {
  blockBytes: MIB,
  chunkBytes: 16 * MIB,
  tailBytes: 16 * MIB,
  wholeBytes: 32 * MIB,
};

export class Layout {
  readonly blockBytes: number;
  readonly chunkBytes: number;
  readonly tailBytes: number;
  readonly wholeBytes: number;

  constructor(sizes: LayoutSizes = DEFAULT_SIZES) {
    assert(sizes.blockBytes >= 1 && sizes.blockBytes <= MIB, 'layout: block size out of range');
    assert(sizes.chunkBytes % sizes.blockBytes === 0, 'layout: chunks are whole blocks');
    assert(sizes.chunkBytes >= sizes.blockBytes, 'layout: a chunk has at least one block');
    this.blockBytes = sizes.blockBytes;
    this.chunkBytes = sizes.chunkBytes;
    this.tailBytes = sizes.tailBytes;
    this.wholeBytes = sizes.wholeBytes;
  }

  /** The block that a byte position is in. */
  blockOf(position: number): number {
    return Math.floor(position / this.blockBytes);
  }

  /** The chunk that a byte position is in. */
  chunkOf(position: number): number {
    return Math.floor(position / this.chunkBytes);
  }

  /** The chunk that a block is in. */
  chunkOfBlock(block: number): number {
    return Math.floor((block * this.blockBytes) / this.chunkBytes);
  }

  /** Position of a block's first byte. */
  blockStart(block: number): number {
    return block * this.blockBytes;
  }

  /** Bytes of a block: the block size, or less for the object's last one. */
  blockLength(size: number, block: number): number {
    const start = block * this.blockBytes;
    assert(block >= 0 && start < size, 'layout: block beyond the object');
    return Math.min(this.blockBytes, size - start);
  }

  /**
   * Whether the home keeps this block of an object of `size` bytes; else the owner of its chunk
   * does.
   */
  isOnHome(size: number, block: number): boolean {
    const start = block * this.blockBytes;
    assert(block >= 0 && start < size, 'layout: block beyond the object');
    if (size <= this.wholeBytes || start < this.chunkBytes) return true;
    return start + this.blockBytes > size - this.tailBytes;
  }

  /**
   * End (exclusive) of the bytes from `position` on that one node keeps and one fetch may bring:
   * within the chunk, the object, and on the same side of the home rule.
   */
  stretchEnd(size: number, position: number): number {
    const chunkEnd = (this.chunkOf(position) + 1) * this.chunkBytes;
    const end = Math.min(chunkEnd, size);
    if (this.isOnHome(size, this.blockOf(position))) return end;
    // The first block that overlaps the tail is the home's, from its first byte on.
    const tailStart = this.blockStart(this.blockOf(size - this.tailBytes));
    return Math.min(end, tailStart);
  }
}
