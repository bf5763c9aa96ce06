/** What a block is and where it lies: all that the slot table keeps of it, and all that it takes to restore it. */
import { equalHash128, type Hash128 } from '../base/hash.ts';

/** Reused: copy what is kept. */
export interface BlockPlace {
  readonly version: Hash128;
  /** Index in its object, and bytes. */
  block: number;
  length: number;
  /** The placement that it is ranked by, as two u32. */
  placementHi: number;
  placementLo: number;
  /** The extent, the place in it, and the bytes of each of the extent's slots. */
  extent: number;
  place: number;
  slotBytes: number;
}

/** A record to fill in. */
export function newBlockPlace(): BlockPlace {
  return {
    version: { h0: 0, h1: 0, h2: 0, h3: 0 },
    block: 0,
    length: 0,
    placementHi: 0,
    placementLo: 0,
    extent: 0,
    place: 0,
    slotBytes: 0,
  };
}

/** Whether two records speak of the same block at the same place. */
export function isPlaceOf(a: Readonly<BlockPlace>, b: Readonly<BlockPlace>): boolean {
  return (
    equalHash128(a.version, b.version) &&
    a.block === b.block &&
    a.length === b.length &&
    a.placementHi === b.placementHi &&
    a.placementLo === b.placementLo &&
    a.extent === b.extent &&
    a.place === b.place &&
    a.slotBytes === b.slotBytes
  );
}
