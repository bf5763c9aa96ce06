/**
 * Where to ask: the home for what an object is, the owner for its bytes, and the next candidate when one of them failed.
 *
 * Bytes are asked for one block at a time, up to the block's end: what a client that doesn't read can hold is a single
 * piece. Along with a piece goes how far the read will want to go in that stretch, so that one fetch from S3 can bring
 * it all.
 */
import type { Hash128 } from '../base/hash.ts';
import { candidates, ownerOf, placeBlock, placeHome, type Placement } from '../placement.ts';
import type { Layout } from '../layout.ts';
import type { Ring } from '../ring.ts';

export class Planner {
  ring: Ring;
  readonly #layout: Layout;
  readonly #placement: Placement = { hi: 0, lo: 0 };
  readonly #ranked: number[] = [];

  constructor(layout: Layout, ring: Ring) {
    this.#layout = layout;
    this.ring = ring;
  }

  /** Whether the ring has a second node to ask. */
  get hasCandidates(): boolean {
    return this.ring.members.length > 1;
  }

  /** The node that keeps the object's metadata, or its stand-in; null in an empty ring. */
  home(hash: Hash128, useCandidate: boolean): number | null {
    placeHome(hash, this.#placement);
    return this.#pick(useCandidate);
  }

  /** The node that keeps the block at a position, or its stand-in; null in an empty ring. */
  owner(hash: Hash128, size: number, position: number, useCandidate: boolean): number | null {
    placeBlock(this.#layout, hash, size, this.#layout.blockOf(position), this.#placement);
    return this.#pick(useCandidate);
  }

  /** The last byte of the piece that begins at `position`, in a read up to `last`. */
  pieceLast(position: number, last: number): number {
    const { blockBytes } = this.#layout;
    return Math.min(last, (this.#layout.blockOf(position) + 1) * blockBytes - 1);
  }

  /** The last byte up to `last` that the same owner keeps and one fetch may bring. */
  partLast(size: number, position: number, last: number): number {
    return Math.min(last, this.#layout.stretchEnd(size, position) - 1);
  }

  #pick(useCandidate: boolean): number | null {
    if (this.ring.members.length === 0) return null;
    if (!useCandidate || !this.hasCandidates) return ownerOf(this.ring, this.#placement);
    candidates(this.ring, this.#placement, 2, this.#ranked);
    return this.#ranked[1]!;
  }
}
