/**
 * Times the ranking of a ring's members: the owner of a placement, which every block of every read needs, and the first three,
 * which a read needs that fails over. `node placement.bench.ts [LOOKUPS]`.
 *
 * Cost grows with the ring, as every member is scored: that is what the figures are for. The result hash follows from the owners.
 */
import { mix32 } from './base/hash.ts';
import { Prng } from './base/prng.ts';
import { nanoseconds, printFigures } from './base/stopwatch.bench.ts';
import { candidates, ownerIndex } from './placement.ts';
import { Ring } from './ring.ts';

export interface PlacementFigures {
  /** Nanoseconds for the owner. */
  readonly owner: number;
  /** For the first three. */
  readonly firstThree: number;
  readonly resultHash: number;
}

/** Ranks the members of a ring of that many, of one weight or of four, `lookups` times each way. */
export function measurePlacement(
  members: number,
  lookups: number,
  weights: 'equal' | 'unequal',
): PlacementFigures {
  const ring = new Ring(
    1,
    Array.from({ length: members }, (_, nodeId) => ({
      nodeId,
      weight: weights === 'equal' ? 1 : 1 + (nodeId & 3),
      address: '',
    })),
  );
  const words = new Uint32Array(lookups * 2);
  const prng = new Prng(1, members);
  for (let i = 0; i < words.length; i++) words[i] = prng.u32();
  let resultHash = members;
  const findOwners = (): number =>
    nanoseconds(lookups, (i) => {
      resultHash = mix32(resultHash ^ ownerIndex(ring, words[2 * i]!, words[2 * i + 1]!));
    });
  const placement = { hi: 0, lo: 0 };
  const ranked: number[] = [];
  const rankThree = (): number =>
    nanoseconds(lookups, (i) => {
      placement.hi = words[2 * i]!;
      placement.lo = words[2 * i + 1]!;
      candidates(ring, placement, 3, ranked);
      resultHash = mix32(resultHash ^ ranked[2]!);
    });
  // The first time of each is for the compiler.
  findOwners();
  const owner = findOwners();
  rankThree();
  return { owner, firstThree: rankThree(), resultHash: resultHash >>> 0 };
}

if (import.meta.main) {
  // A process has rings of one kind only: those of the other kind come last, as they would slow the code down for both.
  for (const weights of ['equal', 'unequal'] as const) {
    for (const members of [4, 64, 256]) {
      console.log(`${members} members of ${weights} weights`);
      printFigures(measurePlacement(members, Number(process.argv[2] ?? 200_000), weights));
    }
  }
}
