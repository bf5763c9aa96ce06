/**
 * Times the index alone, without the store around it: lookups that hit and that miss, over all blocks and over a few, and blocks
 * that come and go. `node block-index.bench.ts [BLOCKS]`.
 *
 * The result hash follows from the slots that were found.
 */
import { mix32, type Hash128 } from '../base/hash.ts';
import { Prng } from '../base/prng.ts';
import { nanoseconds, printFigures } from '../base/stopwatch.bench.ts';
import { BlockIndex } from './block-index.ts';
import { BlockKey } from './block-key.ts';
import { SlotRecords, type SlotId } from './slot-records.ts';

export interface IndexFigures {
  /** Nanoseconds of a lookup of a random block, its key hashed. */
  readonly findRandom: number;
  /** Of one of a thousand. */
  readonly findHot: number;
  readonly findMissing: number;
  /** Of a block that leaves and one that takes its place. */
  readonly replace: number;
  readonly resultHash: number;
}

/** Measures an index made for as many blocks as it holds. */
export function measureIndex(blocks: number): IndexFigures {
  const records = new SlotRecords();
  const key = new BlockKey({ hi: 1, lo: 2 });
  const index = new BlockIndex(records, blocks);
  const version: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
  const slots = new Int32Array(blocks);
  const order = new Int32Array(blocks);
  const prng = new Prng(3, 4);
  let resultHash = 0;
  const set = (i: number): void => {
    version.h0 = Math.imul(i, 0x9e3779b1) >>> 0;
    version.h1 = Math.imul(i, 0x85ebca6b) >>> 0;
    version.h2 = i;
    version.h3 = ~i >>> 0;
    key.set(version, 0);
  };
  const add = (slot: SlotId, i: number): void => {
    set(i);
    records.assign(slot, version, 0, 0, 0, 1);
    index.add(key, slot);
  };
  for (let i = 0; i < blocks; i++) {
    order[i] = prng.below(blocks);
    slots[i] = records.make();
    add(slots[i]!, i);
  }
  const find = (base: number, mask: number): number =>
    nanoseconds(blocks, (i) => {
      set(base + (order[i]! & mask));
      resultHash = mix32(resultHash ^ index.find(key, version, 0));
    });
  find(0, -1);
  const findRandom = find(0, -1);
  const findHot = find(0, 1023);
  const findMissing = find(2 * blocks, -1);
  const replace = nanoseconds(blocks, (i) => {
    set(i);
    index.remove(key, slots[i]!);
    add(slots[i]!, blocks + i);
  });
  find(blocks, -1);
  return { findRandom, findHot, findMissing, replace, resultHash: resultHash >>> 0 };
}

if (import.meta.main) {
  const blocks = Number(process.argv[2] ?? 1_000_000);
  console.log(`${blocks} blocks`);
  printFigures(measureIndex(blocks));
}
