/**
 * Times the store at about a million blocks and prints what a block costs in memory. `node
 * store.bench.ts [BLOCKS]`.
 *
 * The result hash depends on what was found and evicted, not on time: equal code gives equal
 * hashes. Lookups of random blocks cost two or three waits for memory, which dominate: compare with
 * `memory`, one dependent random read of 64 MiB.
 */
import { mix32, type Hash128 } from '../base/hash.ts';
import { plainMemory, type AllocateMemory } from '../base/memory.ts';
import { Prng } from '../base/prng.ts';
import { nanoseconds } from '../base/stopwatch.bench.ts';
import { NO_SLOT, Store } from './store.ts';

const MIB = 1 << 20;

export interface StoreFigures {
  /** Nanoseconds of each operation. */
  readonly findHot: number;
  readonly findRandom: number;
  readonly findMissing: number;
  readonly insert: number;
  readonly insertAndEvict: number;
  readonly admits: number;
  /** One dependent random read of 64 MiB, for scale. */
  readonly memory: number;
  readonly bytesPerBlock: number;
  /** Of everything that was found, evicted and admitted. */
  readonly resultHash: number;
}

/** Runs every operation `blocks` times or more on a store of as many 1 MiB blocks. */
export function measureStore(blocks: number, allocate: AllocateMemory = plainMemory): StoreFigures {
  const store = new Store({
    capacityBytes: blocks * MIB,
    blockBytes: MIB,
    seed: { hi: 1, lo: 2 },
    allocate,
  });
  const key: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
  const order = new Int32Array(blocks);
  const prng = new Prng(3, 4);
  for (let i = 0; i < blocks; i++) order[i] = prng.below(blocks);
  let resultHash = 0;

  const at = (i: number): Hash128 => {
    key.h0 = Math.imul(i, 0x9e3779b1) >>> 0;
    key.h1 = Math.imul(i, 0x85ebca6b) >>> 0;
    key.h2 = i;
    key.h3 = ~i >>> 0;
    return key;
  };
  const insertAll = (from: number): number =>
    nanoseconds(blocks, (i) => {
      const slot = store.reserve(at(from + i), 0, 1, 2, MIB);
      if (slot !== NO_SLOT) store.publish(slot);
    });
  const findAll = (base: number, mask: number): number => {
    let found = 0;
    const each = nanoseconds(blocks, (i) => {
      const slot = store.find(at(base + (order[i]! & mask)), 0);
      if (slot !== NO_SLOT) found++;
    });
    resultHash = mix32(resultHash ^ found);
    return each;
  };

  const insert = insertAll(0);
  const bytesPerBlock = store.memoryBytes / blocks;
  findAll(0, -1);
  const findRandom = findAll(0, -1);
  const findHot = findAll(0, 1023);
  const findMissing = findAll(5 * blocks, -1);
  // Three generations: the index as it is once blocks have come and gone.
  insertAll(blocks);
  insertAll(2 * blocks);
  const insertAndEvict = insertAll(3 * blocks);
  let admitted = 0;
  const admits = nanoseconds(blocks, (i) => {
    if (store.admits(at(order[i]!), 7, 1)) admitted++;
  });
  resultHash = mix32(resultHash ^ store.counters.evictions) ^ admitted;
  return {
    findHot,
    findRandom,
    findMissing,
    insert,
    insertAndEvict,
    admits,
    memory: memoryLatency(blocks),
    bytesPerBlock,
    resultHash: resultHash >>> 0,
  };
}

function memoryLatency(times: number): number {
  const words = new Int32Array(16 * MIB);
  for (let i = 0; i < words.length; i += 64) words[i] = 1;
  let x = 1;
  return nanoseconds(times, () => {
    x = mix32(x + words[x & (words.length - 1)]! + 1);
  });
}

if (import.meta.main) {
  const blocks = Number(process.argv[2] ?? 1_000_000);
  const figures = measureStore(blocks);
  console.log(`${blocks} blocks`);
  for (const [name, figure] of Object.entries<number>({ ...figures })) {
    const isTime = name !== 'bytesPerBlock' && name !== 'resultHash';
    console.log(`${name.padEnd(16)}${isTime ? `${Math.round(figure)} ns` : figure}`);
  }
}
