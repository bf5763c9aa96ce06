/**
 * Remembers which blocks left lately without the block's bytes: S3-FIFO's ghost queue.
 *
 * A block that comes back while it is remembered was evicted too early and goes straight to the
 * main queue. The queue is a row of rings of 16 fingerprints; a hashed word says which ring, and a
 * ring that wraps forgets its oldest. A false match (1 in 4,000) puts a block into main that should
 * have gone to small: harmless.
 *
 * Memory: 2.06 bytes a ghost.
 */
import { spread } from '../base/hash.ts';
import { plainMemory, type AllocateMemory } from '../base/memory.ts';
import type { BlockKey } from './block-key.ts';

const RING_SHIFT = 4;
const RING = 1 << RING_SHIFT;
const NO_GHOST = 0;

/** The most blocks that a ghost queue remembers. */
export const MAX_GHOSTS = 1 << 24;

export class GhostQueue {
  readonly #fingerprints: Uint16Array;
  readonly #cursors: Uint8Array;

  /** Remembers about the last `ghosts` blocks, at most MAX_GHOSTS. */
  constructor(ghosts: number, allocate: AllocateMemory = plainMemory) {
    const rings = Math.max(1, Math.ceil(Math.min(ghosts, MAX_GHOSTS) / RING));
    this.#cursors = new Uint8Array(rings);
    this.#fingerprints = new Uint16Array(allocate(rings << (RING_SHIFT + 1)));
  }

  /** How many blocks it remembers. */
  get capacity(): number {
    return this.#fingerprints.length;
  }

  get bytes(): number {
    return this.#fingerprints.byteLength + this.#cursors.byteLength;
  }

  /** Remembers the block that `key` is set to. */
  add(key: BlockKey): void {
    const ring = spread(key.a, this.#cursors.length);
    const cursor = this.#cursors[ring]!;
    this.#fingerprints[(ring << RING_SHIFT) + cursor] = fingerprintOf(key);
    this.#cursors[ring] = (cursor + 1) & (RING - 1);
  }

  /** Whether the block that `key` is set to is remembered; forgets it. */
  take(key: BlockKey): boolean {
    const start = spread(key.a, this.#cursors.length) << RING_SHIFT;
    const fingerprint = fingerprintOf(key);
    for (let at = start; at < start + RING; at++) {
      if (this.#fingerprints[at] !== fingerprint) continue;
      this.#fingerprints[at] = NO_GHOST;
      return true;
    }
    return false;
  }
}

function fingerprintOf(key: BlockKey): number {
  const bits = key.b & 0xffff;
  return bits === NO_GHOST ? 1 : bits;
}
