/** Every figure that can be measured, in the order of the page: which group gives it, and how it is asked for. */
import { measureBulk } from './figures/bulk.ts';
import { measureFills } from './figures/fills.ts';
import { measureGenerator } from './figures/generator.ts';
import { measureHitRates } from './figures/hit-rates.ts';
import { measureHits } from './figures/hits.ts';
import { measureHotKey } from './figures/hot-key.ts';
import { measureMemory } from './figures/memory.ts';
import { measureMisses } from './figures/misses.ts';
import { measurePeers } from './figures/peers.ts';
import { measureResize } from './figures/resize.ts';
import { measureScaling } from './figures/scaling.ts';
import type { FigureResult, Outcome } from './figure.ts';
import type { Run } from './run.ts';

export interface Group {
  /** What --only takes. */
  readonly ids: readonly string[];
  readonly about: string;
  /** Without clocks: neither a noisy machine nor any peer matters. */
  readonly isCounted: boolean;
  /** Started so soon that a quick run of everything has it. */
  readonly isQuick: boolean;
  readonly measure: (run: Run) => Promise<Outcome>;
}

function figuresAlone(
  ids: readonly string[],
  about: string,
  measure: (run: Run) => Promise<FigureResult[]>,
): Group {
  return {
    ids,
    about,
    isCounted: false,
    isQuick: true,
    measure: async (run) => ({ figures: await measure(run), comparisons: [] }),
  };
}

export const groups: readonly Group[] = [
  figuresAlone(['P1', 'P2', 'P3', 'P5'], 'hits of 4 and 64 KiB', measureHits),
  {
    ids: ['P4'],
    about: 'hits of 16 and 256 MiB',
    isCounted: false,
    isQuick: true,
    measure: measureBulk,
  },
  figuresAlone(['P6'], 'hits while other objects fill', measureFills),
  figuresAlone(['P7'], 'misses', measureMisses),
  figuresAlone(['P8'], 'memory of a full cache, and its restart', measureMemory),
  { ...figuresAlone(['P9'], 'a node joins, a node leaves', measureResize), isQuick: false },
  { ...figuresAlone(['P10'], 'hit rates of replayed traces', measureHitRates), isCounted: true },
  { ...figuresAlone(['P11'], 'one hot key on three nodes', measureHotKey), isQuick: false },
  { ...figuresAlone(['P13'], 'gateway loops and connections', measureScaling), isQuick: false },
  figuresAlone(['P14'], 'the load generator', measureGenerator),
  {
    ids: ['PEERS'],
    about: 'all installed peers beside ours',
    isCounted: false,
    isQuick: false,
    measure: measurePeers,
  },
];

export const knownIds: readonly string[] = groups.flatMap(({ ids }) => ids);
