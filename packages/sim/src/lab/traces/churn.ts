/** Zipf's law over objects that go out of fashion: new ones come in at the top and push the others down. */
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import { wholeRead, type Trace, type TraceRead } from '../trace.ts';
import { Popularity } from './popularity.ts';
import { logUniform } from './sizes.ts';

export interface ChurnOptions {
  readonly capacityBytes: number;
  /** Objects that are read at any one time. */
  readonly objects: number;
  readonly requests: number;
  /** Reads until the next new object. */
  readonly readsEachNew: number;
  readonly seed: number;
}

const EVERY_MS = 100;

/** Daily tables, models, builds: whole objects of 64 KiB to 64 MiB. */
export function churn(options: ChurnOptions): Trace {
  const { capacityBytes, objects, requests, readsEachNew, seed } = options;
  return {
    name: 'churn',
    about: `Zipf rereads in which a new object takes the first place after every ${readsEachNew} reads`,
    capacityBytes,
    *reads(): Generator<TraceRead> {
      const root = new Prng(0, seed);
      const sizeStream = root.stream('sizes');
      const ranks = root.stream('ranks');
      const popularity = new Popularity(objects);
      const sizes = Array.from({ length: objects }, () => logUniform(sizeStream, 16, 26));
      for (let i = 0; i < requests; i++) {
        if (i > 0 && i % readsEachNew === 0) sizes.push(logUniform(sizeStream, 16, 26));
        const object = sizes.length - 1 - popularity.draw(ranks);
        yield wholeRead(i * EVERY_MS, object, sizes[object]!);
      }
    },
  };
}
