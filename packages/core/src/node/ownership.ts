/** Where this node stands in the ring: the placements of blocks, and which of them it owns. */
import type { Hash128 } from '../base/hash.ts';
import { ownerOf, placeBlock, type Placement } from '../placement.ts';
import type { Layout } from '../layout.ts';
import type { Ring } from '../ring.ts';

export class Ownership {
  ring: Ring;
  readonly #nodeId: number;
  readonly #layout: Layout;
  readonly #placement: Placement = { hi: 0, lo: 0 };

  constructor(ring: Ring, nodeId: number, layout: Layout) {
    this.ring = ring;
    this.#nodeId = nodeId;
    this.#layout = layout;
  }

  /** The placement that a block is ranked by; good until the next call. */
  placementOf(hash: Hash128, size: number, block: number): Readonly<Placement> {
    placeBlock(this.#layout, hash, size, block, this.#placement);
    return this.#placement;
  }

  /** Whether this node ranks first for a block. */
  owns(hash: Hash128, size: number, block: number): boolean {
    if (this.ring.members.length === 0) return false;
    return ownerOf(this.ring, this.placementOf(hash, size, block)) === this.#nodeId;
  }
}
