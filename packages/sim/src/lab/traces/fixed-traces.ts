/** The generated traces that hit rates are measured on: every count, size and seed is fixed here. */
import type { Trace } from '../trace.ts';
import { churn } from './churn.ts';
import { scan } from './scan.ts';
import { sizeShift } from './size-shift.ts';
import { zipf } from './zipf.ts';

const GIB = 2 ** 30;

export const FIXED_TRACES: readonly Trace[] = [
  // About 1,780 objects, each read 11 times on average.
  zipf({ capacityBytes: 8 * GIB, requests: 20_000, seed: 1 }),
  scan({ capacityBytes: 4 * GIB, hotShare: 0.7, hotReads: 4, scanReads: 1, seed: 1 }),
  scan({ capacityBytes: 4 * GIB, hotShare: 0.7, hotReads: 4, scanReads: 2, seed: 1 }),
  sizeShift({ capacityBytes: GIB, cachesEachPhase: 6, seed: 1 }),
  churn({ capacityBytes: 4 * GIB, objects: 900, requests: 20_000, readsEachNew: 20, seed: 1 }),
];
