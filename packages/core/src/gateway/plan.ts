/**
 * Where to ask: the home for what an object is, the owner for its bytes, and the next candidates when those failed. What is hot is
 * asked of its owner and of those that hold a lease of it, in turn.
 *
 * Bytes are asked for one block at a time, up to the block's end: what a client that doesn't read can hold is a single
 * piece. Along with a piece goes how far the read will want to go in that stretch, so that one fetch from S3 can bring
 * it all.
 */
import type { Hash128 } from '../base/hash.ts';
import { candidates, ownerOf, placeBlock, placeHome, type Placement } from '../placement.ts';
import type { Layout } from '../layout.ts';
import type { HotHint, ReadRequest } from '../read.ts';
import type { Ring } from '../ring.ts';
import { nobody } from './client-read.ts';
import type { GatewayCounters } from './counters.ts';
import type { HotHints } from './hot-hints.ts';
import type { Suspects } from './suspects.ts';

/** How many of the nodes ranked first a read may be sent to, one after the other. */
const maxCandidates = 4;

/** Where the piece that begins at `first` is read, and who failed before. */
interface PlannedPiece {
  readonly first: number;
  readonly nodeId: number;
  readonly tried: readonly number[];
}

export class Planner {
  #ring: Ring;
  readonly #hints: HotHints;
  readonly #counters: GatewayCounters;
  readonly #layout: Layout;
  readonly #suspects: Suspects;
  readonly #placement: Placement = { hi: 0, lo: 0 };
  readonly #ranked: number[] = [];

  constructor(
    layout: Layout,
    ring: Ring,
    suspects: Suspects,
    hints: HotHints,
    counters: GatewayCounters,
  ) {
    this.#layout = layout;
    this.#ring = ring;
    this.#suspects = suspects;
    this.#hints = hints;
    this.#counters = counters;
  }

  /** Places by another ring from now on. */
  set ring(ring: Ring) {
    this.#ring = ring;
    this.#hints.clear();
  }

  get blockBytes(): number {
    return this.#layout.blockBytes;
  }

  /** The node to look an object up at, none of those already `tried`; null when nobody is left. */
  home(hash: Hash128, tried: readonly number[] = nobody): number | null {
    placeHome(hash, this.#placement);
    return this.#pick(tried);
  }

  /** The node to read the block at a position from, none of those already `tried`; null when nobody is left. */
  owner(
    hash: Hash128,
    size: number,
    position: number,
    tried: readonly number[] = nobody,
  ): number | null {
    placeBlock(this.#layout, hash, size, this.#layout.blockOf(position), this.#placement);
    return this.#pick(tried);
  }

  /** Whether `nodeId`, which `home` gave, stands in for the node that ranks first. */
  homeIsReplaced(hash: Hash128, tried: readonly number[], nodeId: number): boolean {
    if (tried.length === 0 && this.#suspects.isEmpty) return false;
    placeHome(hash, this.#placement);
    return this.#isReplaced(nodeId);
  }

  /** The same of a piece's node, which `owner` gave. */
  ownerIsReplaced(hash: Hash128, size: number, piece: PlannedPiece): boolean {
    if (piece.tried.length === 0 && this.#suspects.isEmpty) return false;
    placeBlock(this.#layout, hash, size, this.#layout.blockOf(piece.first), this.#placement);
    return this.#isReplaced(piece.nodeId);
  }

  /** An answer to a read of `askedAt` says who else serves what it was about. */
  learn(askedAt: number, { kind, hash, size, first }: ReadRequest, hint: HotHint): void {
    if (kind === 'lookup') placeHome(hash, this.#placement);
    else placeBlock(this.#layout, hash, size, this.#layout.blockOf(first), this.#placement);
    this.#hints.learn(askedAt, this.#placement, hint, this.#ring);
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

  #isReplaced(nodeId: number): boolean {
    if (ownerOf(this.#ring, this.#placement) === nodeId) return false;
    return !this.#hints.names(this.#placement, nodeId);
  }

  /** Whose turn it is of a hot placement's nodes; else by rank: first those that nobody suspects, then the others. */
  #pick(tried: readonly number[]): number | null {
    const ring = this.#ring;
    if (ring.members.length === 0) return null;
    if (this.#hints.count > 0) {
      const nodeId = this.#hints.next(this.#placement, tried, this.#suspects);
      if (nodeId >= 0) {
        if (ownerOf(ring, this.#placement) !== nodeId) this.#counters.spreadReads += 1;
        return nodeId;
      }
    }
    if (tried.length === 0 && this.#suspects.isEmpty) return ownerOf(ring, this.#placement);
    const count = candidates(ring, this.#placement, maxCandidates, this.#ranked);
    let suspect: number | null = null;
    for (let rank = 0; rank < count; rank++) {
      const nodeId = this.#ranked[rank]!;
      if (tried.includes(nodeId)) continue;
      if (!this.#suspects.has(nodeId)) return nodeId;
      suspect ??= nodeId;
    }
    return suspect;
  }
}
