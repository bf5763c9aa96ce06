/** Rereads by Zipf's law of twice what the cache holds: what popular objects of all sizes look like from below. */
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import { wholeRead, type Trace, type TraceRead } from '../trace.ts';
import { Popularity } from './popularity.ts';
import { sizesOf } from './sizes.ts';

export interface ZipfOptions {
  readonly capacityBytes: number;
  readonly requests: number;
  readonly seed: number;
}

const EVERY_MS = 100;

/** Whole objects of 64 KiB to 64 MiB, popularity and size independent of each other. */
export function zipf(options: ZipfOptions): Trace {
  const { capacityBytes, requests, seed } = options;
  return {
    name: 'zipf',
    about: 'Zipf (s = 1) rereads of twice the cache, whole objects of 64 KiB to 64 MiB',
    capacityBytes,
    *reads(): Generator<TraceRead> {
      const root = new Prng(0, seed);
      const sizes = sizesOf(root.stream('sizes'), 2 * capacityBytes, 16, 26);
      const popularity = new Popularity(sizes.length);
      const ranks = root.stream('ranks');
      for (let i = 0; i < requests; i++) {
        const object = popularity.draw(ranks);
        yield wholeRead(i * EVERY_MS, object, sizes[object]!);
      }
    },
  };
}
