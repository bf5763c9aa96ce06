/**
 * Times recovery: rows of full blocks, decoded and restored into an empty store, and what a block costs in memory afterwards. `node
 * recovery.bench.ts [BLOCKS]`.
 *
 * Rows are in no order of their places, as after a long life. The table is made a piece at a time, outside the measured time.
 */
import { newBlockPlace } from '../store/block-place.ts';
import { Store } from '../store/store.ts';
import { mix32 } from '../base/hash.ts';
import { Recovery } from './recovery.ts';
import { encodeRecord, RECORD_WORDS, recordSeed } from './slot-record.ts';
import { cleanEnd, firstHeader, nextRun } from './table-header.ts';

const MIB = 1 << 20;
const PIECE_ROWS = 16_384;

export interface RecoveryFigures {
  readonly seconds: number;
  /** Of this process's processor time: what counts on a machine that does other things too. */
  readonly cpuSeconds: number;
  readonly nanosecondsPerBlock: number;
  readonly bytesPerBlock: number;
  /** Of what was restored: equal code gives equal hashes. */
  readonly resultHash: number;
}

/** Restores so many blocks of 1 MiB. */
export function measureRecovery(blocks: number): RecoveryFigures {
  const store = new Store({ capacityBytes: blocks * MIB, blockBytes: MIB, seed: { hi: 1, lo: 2 } });
  const first = firstHeader({ h0: 1, h1: 2, h2: 3, h3: 4 }, store);
  const seed = recordSeed(first.cacheId);
  const recovery = new Recovery(store, nextRun(cleanEnd(first), store, true), store.slabBytes);
  const place = newBlockPlace();
  place.length = MIB;
  place.slotBytes = MIB;
  const claim = { checksum: 0, run: 1 };
  let milliseconds = 0;
  let cpuMicroseconds = 0;
  const timed = (step: () => void): void => {
    const start = performance.now();
    const cpuStart = process.cpuUsage();
    step();
    const { user, system } = process.cpuUsage(cpuStart);
    cpuMicroseconds += user + system;
    milliseconds += performance.now() - start;
  };
  for (let row = 0; row < blocks; row += PIECE_ROWS) {
    const rows = Math.min(PIECE_ROWS, blocks - row);
    const words = new Int32Array(rows * RECORD_WORDS);
    for (let i = 0; i < rows; i++) {
      const slot = row + i + 1;
      place.version.h0 = mix32(slot) >>> 0;
      place.version.h1 = mix32(slot + 7) >>> 0;
      place.version.h2 = slot;
      // A walk through all extents that isn't in their order: the step shares no factor with most counts.
      place.extent = (slot * 1_000_003) % blocks;
      encodeRecord(words, i * RECORD_WORDS, slot, place, claim, seed);
    }
    timed(() => {
      recovery.take(words);
    });
  }
  timed(() => {
    recovery.finish();
  });
  const { restored, trusted } = recovery.counts;
  return {
    seconds: milliseconds / 1000,
    cpuSeconds: cpuMicroseconds / 1e6,
    nanosecondsPerBlock: (cpuMicroseconds * 1000) / blocks,
    bytesPerBlock: store.memoryBytes / blocks,
    resultHash: (mix32(restored) ^ trusted ^ store.find(place.version, 0)) >>> 0,
  };
}

if (import.meta.main) {
  const blocks = Number(process.argv[2] ?? 4_000_000);
  const { seconds, cpuSeconds, nanosecondsPerBlock, bytesPerBlock, resultHash } =
    measureRecovery(blocks);
  console.log(`${blocks} blocks`);
  console.log(
    `restored in      ${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of processor time`,
  );
  console.log(
    `a block takes    ${Math.round(nanosecondsPerBlock)} ns, ${bytesPerBlock.toFixed(1)} bytes`,
  );
  console.log(`resultHash       ${resultHash}`);
}
