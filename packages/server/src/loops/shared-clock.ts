/**
 * One monotonic clock for all loops of a process, since they tell each other moments: performance.now() begins anew in each thread.
 *
 * Each thread measures once how far its own is from the common zero. The two readings that it takes for that are never at the same
 * moment, so it takes the pair that lies closest together: microseconds apart, where write epochs allow a millisecond.
 */

const pairs = 20;

/** A zero for clocks: now, as the kernel counts, in nanoseconds. */
export function clockZero(): bigint {
  return process.hrtime.bigint();
}

/** Milliseconds since the zero, the same in every thread. */
export function sharedClock(zero: bigint): () => number {
  let shift = 0;
  let closest = Infinity;
  for (let pair = 0; pair < pairs; pair++) {
    const before = performance.now();
    const common = process.hrtime.bigint();
    const after = performance.now();
    if (after - before >= closest) continue;
    closest = after - before;
    shift = Number(common - zero) / 1e6 - (before + after) / 2;
  }
  return () => performance.now() + shift;
}
