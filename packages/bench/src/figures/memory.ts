/** P8: what a block costs in memory, how fast the store's operations are with 4 million blocks, and a restart with as many. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startAccelerator } from '../accelerator/accelerator.ts';
import { figureOf, type FigureResult } from '../figure.ts';
import { median } from '../load/percentiles.ts';
import { serverPrefix, ownCompileCache } from '../machine/child.ts';
import type { Run } from '../run.ts';

const packages = join(import.meta.dirname, '../../..');
const storeAlone = join(packages, 'server/src/disk/store.bench.ts');
const fullCache = join(packages, 'core/src/journal/full-cache.bench.ts');

/** What the store's benchmark prints: nanoseconds, and bytes. */
interface StoreFigures {
  readonly findRandom: number;
  readonly insertAndEvict: number;
  readonly memory: number;
  readonly bytesPerBlock: number;
}

/** Blocks of 4 KiB, 255 to an extent of 1 MiB. */
const blocksOfGibibyte = 255 * 1024;

/** Runs a script on the servers' processor and gives what it printed. */
function runScript(script: string, ...args: readonly string[]): string {
  const [program = process.execPath, ...rest] = [
    ...serverPrefix,
    process.execPath,
    script,
    ...args,
  ];
  const ended = spawnSync(program, rest, { encoding: 'utf8' });
  if (ended.status !== 0)
    throw new Error(`${script} ended with ${String(ended.status)}:\n${ended.stderr}`);
  return ended.stdout;
}

function figure(
  head: Pick<FigureResult, 'id' | 'title' | 'unit' | 'target' | 'note'>,
  values: readonly number[],
  limit: number,
): FigureResult {
  return figureOf(head, values, { used: median(values) / limit, note: head.note });
}

/** The store by itself: bytes a block, and nanoseconds of a lookup and of an insertion that evicts. */
function storeFigures({ scale, progress }: Run): FigureResult[] {
  const blocks = scale.blocks;
  const rounds = Array.from({ length: scale.rounds }, (_, round) => {
    progress.say(`P8 store: round ${round + 1} of ${scale.rounds}`);
    return JSON.parse(runScript(storeAlone, String(blocks))) as StoreFigures;
  });
  const of = (name: keyof StoreFigures): number[] => rounds.map((figures) => figures[name]);
  const million = `${(blocks / 2 ** 20).toFixed(2)} Mi blocks of 1 MiB`;
  const bytes = of('bytesPerBlock');
  const mebibytes = ((median(bytes) * blocks) / 2 ** 20).toFixed(0);
  const memory = Math.round(median(of('memory')));
  return [
    figure(
      {
        id: 'P8a',
        title: `memory of a block, all told, with ${million}`,
        unit: 'bytes',
        target: '≤ 64 bytes a block, 256 MiB for 4 Mi blocks',
        note: `${mebibytes} MiB in all`,
      },
      bytes,
      64,
    ),
    figure(
      {
        id: 'P8b',
        title: `lookup of a random block among ${million}`,
        unit: 'ns',
        target: '≤ 150 ns',
        note: `one dependent read of memory takes ${memory} ns`,
      },
      of('findRandom'),
      150,
    ),
    figure(
      {
        id: 'P8c',
        title: `insertion that evicts, among ${million}`,
        unit: 'ns',
        target: '≤ 1000 ns',
        note: '',
      },
      of('insertAndEvict'),
      1000,
    ),
  ];
}

/** From the start of a process on a full table to its first answer that it is ready. */
async function restartFigure({ directory, scale, progress }: Run): Promise<FigureResult> {
  const gibibytes = Math.ceil(scale.blocks / blocksOfGibibyte);
  const seconds: number[] = [];
  const start = async (home: string): Promise<{ seconds: number; blocks: number }> => {
    const began = performance.now();
    const accelerator = await startAccelerator({
      directory: home,
      originPort: 1,
      cacheGibibytes: gibibytes,
      processes: 1,
      environment: ownCompileCache,
    });
    const took = (performance.now() - began) / 1000;
    const blocks = await accelerator.sumOfNodes('s3accel_node_restored_blocks');
    await accelerator.stop();
    return { seconds: took, blocks };
  };
  progress.say('P8 restart: an empty cache');
  const emptyHome = join(directory, 'empty');
  const empty = await start(emptyHome);
  rmSync(emptyHome, { recursive: true });
  for (let round = 0; round < scale.rounds; round++) {
    progress.say(`P8 restart: round ${round + 1} of ${scale.rounds}`);
    const home = join(directory, `full-${round}`);
    const data = join(home, 'node-0');
    const capacity = gibibytes * 2 ** 30;
    runScript(fullCache, data, String(capacity), String(scale.blocks));
    const full = await start(home);
    rmSync(home, { recursive: true });
    if (full.blocks !== scale.blocks) {
      throw new Error(`${full.blocks} blocks of ${scale.blocks} came back`);
    }
    seconds.push(full.seconds);
  }
  return figure(
    {
      id: 'P8d',
      title: `restart with ${(scale.blocks / 2 ** 20).toFixed(2)} Mi blocks, until it serves`,
      unit: 's',
      target: '≤ 3 s with 4 Mi',
      note: `${empty.seconds.toFixed(2)} s with an empty cache; the table is in the page cache`,
    },
    seconds,
    3,
  );
}

/** Measures P8's four parts. */
export async function measureMemory(run: Run): Promise<FigureResult[]> {
  return [...storeFigures(run), await restartFigure(run)];
}
