/**
 * Where blocks live: placements from object hashes, and rendezvous ranking of a ring's members by
 * placement.
 *
 * Each member scores hash(placement, member); the highest score owns, the next ones are candidates.
 * A member that joins or leaves changes nobody else's score, so only its own keys move. With
 * unequal weights the score is log2(hash / 2^32) / weight, which gives each member its weight's
 * share; with equal weights that ranks as the hash alone does, so the logarithm is left out.
 *
 * All of it is integer or exactly rounded arithmetic: every process and engine agrees to the bit
 * (golden tests).
 */
import { assert } from './base/assert.ts';
import { mix32, mix64, type Hash128, type U64 } from './base/hash.ts';
import { log2 } from './base/log2.ts';
import type { Layout } from './layout.ts';
import type { Ring } from './ring.ts';

/** The 64-bit hash that a home or a chunk is ranked by. */
export type Placement = U64;

/** Writes placement(home) of the object. */
export function placeHome(hash: Readonly<Hash128>, into: Placement): void {
  into.hi = hash.h0;
  into.lo = hash.h1;
}

/** Writes placement(chunk i) of the object. */
export function placeChunk(hash: Readonly<Hash128>, chunk: number, into: Placement): void {
  assert(chunk >= 0 && chunk <= 0xffff_ffff, 'placement: chunk out of range');
  // The other half of the hash, so that no chunk's placement is its home's.
  mix64(hash.h2 ^ mix32(chunk + 1), hash.h3 ^ chunk, into);
}

/** Writes the placement that a block of an object of `size` bytes is ranked by: its home's or its chunk's. */
export function placeBlock(
  layout: Layout,
  hash: Readonly<Hash128>,
  size: number,
  block: number,
  into: Placement,
): void {
  if (layout.isOnHome(size, block)) placeHome(hash, into);
  else placeChunk(hash, layout.chunkOfBlock(block), into);
}

/**
 * The index in `ring.members` of the member ranked first; -1 in an empty ring. Allocates nothing.
 */
export function ownerIndex(ring: Ring, hi: number, lo: number): number {
  const { salts } = ring;
  let best = -1;
  let bestScore = -Infinity;
  for (let i = 0; i < salts.length; i++) {
    const score = ring.isEqual ? rawScore(salts[i]!, hi, lo) : weightedScore(ring, i, hi, lo);
    // Strictly greater: equal scores go to the lower node id.
    if (score > bestScore) {
      best = i;
      bestScore = score;
    }
  }
  return best;
}

/** The node id of the owner. The ring must not be empty. */
export function ownerOf(ring: Ring, placement: Readonly<Placement>): number {
  const owner = ownerIndex(ring, placement.hi, placement.lo);
  assert(owner >= 0, 'placement: an empty ring owns nothing');
  return ring.members[owner]!.nodeId;
}

/**
 * Writes the node ids of the first `count` members by rank (the owner first) and returns how many
 * there are: `count`, or all members of a smaller ring. Allocates nothing once `into` is long
 * enough; meant for small counts.
 */
export function candidates(
  ring: Ring,
  placement: Readonly<Placement>,
  count: number,
  into: number[],
): number {
  const wanted = Math.min(count, ring.members.length);
  let lastScore = Infinity;
  let lastIndex = -1;
  for (let rank = 0; rank < wanted; rank++) {
    const index = nextRanked(ring, placement, lastScore, lastIndex);
    lastScore = scoreOf(ring, index, placement.hi, placement.lo);
    lastIndex = index;
    into[rank] = ring.members[index]!.nodeId;
  }
  return wanted;
}

/** The best member of those that rank after (lastScore, lastIndex). */
function nextRanked(
  ring: Ring,
  placement: Readonly<Placement>,
  lastScore: number,
  lastIndex: number,
): number {
  let best = -1;
  let bestScore = -Infinity;
  for (let i = 0; i < ring.members.length; i++) {
    const score = scoreOf(ring, i, placement.hi, placement.lo);
    const isAfter = score < lastScore || (score === lastScore && i > lastIndex);
    if (isAfter && score > bestScore) {
      best = i;
      bestScore = score;
    }
  }
  assert(best >= 0, 'placement: ran out of members');
  return best;
}

function scoreOf(ring: Ring, index: number, hi: number, lo: number): number {
  return ring.isEqual ? rawScore(ring.salts[index]!, hi, lo) : weightedScore(ring, index, hi, lo);
}

/** A u32 that is evenly spread over placements and independent between members. */
function rawScore(salt: number, hi: number, lo: number): number {
  return mix32(mix32(lo ^ salt) ^ hi) >>> 0;
}

/** log2(u) / weight, negative; u in (0, 1) from the same u32. */
function weightedScore(ring: Ring, index: number, hi: number, lo: number): number {
  const u = (rawScore(ring.salts[index]!, hi, lo) + 0.5) / 0x1_0000_0000;
  return log2(u) / ring.members[index]!.weight;
}
