/** A scan of three times the cache beside a hot set: an export, a backup, a full table scan during the day's work. */
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import { wholeRead, type Trace, type TraceRead } from '../trace.ts';
import { sizesOf } from './sizes.ts';

export interface ScanOptions {
  readonly capacityBytes: number;
  /** How much of the cache the hot set takes. */
  readonly hotShare: number;
  /** Reads of the hot set beside each object that is scanned. */
  readonly hotReads: number;
  /** How often each object of the scan is read, in a row. */
  readonly scanReads: 1 | 2;
  readonly seed: number;
}

const EVERY_MS = 20;
/** Reads of the whole hot set beforehand: seen, stored, read again. */
const WARM_ROUNDS = 3;
const SCAN_CAPACITIES = 3;

/** Whole objects of 64 KiB to 64 MiB; the hot set is read a few times before the scan begins. */
export function scan(options: ScanOptions): Trace {
  const { capacityBytes, hotShare, hotReads, scanReads, seed } = options;
  const often = scanReads === 1 ? 'once' : 'twice in a row';
  return {
    name: scanReads === 1 ? 'scan' : 'scan-twice',
    about: `a scan of 3 × the cache, each object ${often}, beside a hot set of ${hotShare * 100}% of the cache`,
    capacityBytes,
    *reads(): Generator<TraceRead> {
      const root = new Prng(0, seed);
      const hot = sizesOf(root.stream('hot'), hotShare * capacityBytes, 16, 26);
      const scanned = sizesOf(root.stream('scanned'), SCAN_CAPACITIES * capacityBytes, 16, 26);
      const choice = root.stream('choice');
      let atMs = 0;
      for (let round = 0; round < WARM_ROUNDS; round++) {
        for (const [object, size] of hot.entries()) {
          yield wholeRead((atMs += EVERY_MS), object, size);
        }
      }
      for (const [i, size] of scanned.entries()) {
        for (let time = 0; time < scanReads; time++) {
          yield wholeRead((atMs += EVERY_MS), hot.length + i, size);
        }
        for (let time = 0; time < hotReads; time++) {
          const object = choice.below(hot.length);
          yield wholeRead((atMs += EVERY_MS), object, hot[object]!, true);
        }
      }
    },
  };
}
