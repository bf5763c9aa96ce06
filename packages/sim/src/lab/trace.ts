/**
 * A trace: the reads that clients make, one after the other, whoever wrote them down or made them up.
 *
 * Objects are numbers here, and every version of an object is a number of its own: what was overwritten is never read
 * again, which is all that a cache sees of a write.
 */

/** The most versions in a trace: block and version together must stay whole numbers. */
export const MAX_VERSIONS = 2 ** 28;

/** One GET of a range. */
export interface TraceRead {
  /** When it was made, in milliseconds from any start; never going back. */
  readonly atMs: number;
  /** Which version of which object: from 0 up to MAX_VERSIONS. */
  readonly version: number;
  /** Bytes of the object. */
  readonly size: number;
  /** The first byte that is read, and how many are: at least one, all within the object. */
  readonly first: number;
  readonly length: number;
  /** Whether a good cache has these bytes by now: they belong to a hot set that was read often. */
  readonly isHot: boolean;
}

export interface Trace {
  readonly name: string;
  /** What it stands for, in one line. */
  readonly about: string;
  /** Bytes of the cache that it is meant for. */
  readonly capacityBytes: number;
  /** The reads from the beginning on: the same ones each time. */
  reads(): Iterable<TraceRead>;
}

/** A read of a whole object. */
export function wholeRead(
  atMs: number,
  version: number,
  size: number,
  isHot: boolean = false,
): TraceRead {
  return { atMs, version, size, first: 0, length: size, isHot };
}
