/** Sizes that change: a working set of small objects, then one of large ones, then the small ones again. */
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import { wholeRead, type Trace, type TraceRead } from '../trace.ts';
import { Popularity } from './popularity.ts';
import { sizesOf } from './sizes.ts';

export interface SizeShiftOptions {
  readonly capacityBytes: number;
  /** Bytes read in each of the three phases, in caches. */
  readonly cachesEachPhase: number;
  readonly seed: number;
}

const EVERY_MS = 5;

/** Each working set is as large as the cache, so space must move from one size of slots to another and back. */
export function sizeShift(options: SizeShiftOptions): Trace {
  const { capacityBytes, cachesEachPhase, seed } = options;
  return {
    name: 'size-shift',
    about: 'Zipf rereads of 16 to 256 KiB, then of 4 to 64 MiB, then of the small objects again',
    capacityBytes,
    *reads(): Generator<TraceRead> {
      const root = new Prng(0, seed);
      const small = sizesOf(root.stream('small'), capacityBytes, 14, 18);
      const large = sizesOf(root.stream('large'), capacityBytes, 22, 26);
      const ranks = root.stream('ranks');
      let atMs = 0;
      for (const sizes of [small, large, small]) {
        const popularity = new Popularity(sizes.length);
        const firstVersion = sizes === small ? 0 : small.length;
        for (let bytes = 0; bytes < cachesEachPhase * capacityBytes;) {
          const object = popularity.draw(ranks);
          const size = sizes[object]!;
          bytes += size;
          yield wholeRead((atMs += EVERY_MS), firstVersion + object, size);
        }
      }
    },
  };
}
