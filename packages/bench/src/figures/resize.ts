/**
 * P9: a fifth node joins four while clients read, and one leaves: how much of the hot set S3 sends again, as the kernel counts
 * the bytes that the S3 process writes.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAccelerator, type Accelerator } from '../accelerator/accelerator.ts';
import { startOrigin, type Origin } from '../accelerator/origin.ts';
import { figureOf, type FigureResult } from '../figure.ts';
import { clientPrefix, start, stop } from '../machine/child.ts';
import { loadClient } from '../measure.ts';
import type { Run } from '../run.ts';
import { jobOf, prime, sizes, synthetic, wholes, type Reads } from './jobs.ts';

const largeObjects = 4;
const limitPercent = 1;

export async function measureResize(run: Run): Promise<FigureResult[]> {
  const small = wholes('small', Math.min(run.scale.objects, 8000));
  const large = wholes('medium', largeObjects * 4);
  const origin = await startOrigin(0, [
    synthetic('small', small.count),
    synthetic('medium', large.count),
  ]);
  const ours = await startAccelerator({
    directory: join(run.directory, 'four'),
    originPort: origin.port,
    cacheGibibytes: 2,
    processes: 2,
    nodes: 4,
  });
  const stage: Stage = { run, origin, ours, hotSet: [small, large] };
  try {
    run.progress.say('P9: four nodes, everything is read once');
    await readAll(stage);
    await ours.settled();
    if (origin.sentBytes() < bytesOf(stage.hotSet)) {
      throw new Error('the kernel counts less than S3 must have sent: its count means nothing');
    }
    const added = await whileLoaded(stage, 'a fifth node joins', async () => {
      await ours.addNode();
      await ringHas(ours, 5);
    });
    const removed = await whileLoaded(stage, 'a node leaves', async () => {
      ours.nodes[0]?.child.kill('SIGUSR1');
      await ringHas(ours, 4);
    });
    return [
      resizeFigure('P9a', 'one node of four added under load', added),
      resizeFigure('P9b', 'one node removed under load', removed),
    ];
  } finally {
    await ours.stop();
    await origin.stop();
  }
}

interface Stage {
  readonly run: Run;
  readonly origin: Origin;
  readonly ours: Accelerator;
  readonly hotSet: readonly Reads[];
}

interface Resize {
  /** Bytes that S3 sent from before the change until everything was read once more after it. */
  readonly bytesFromS3: number;
  readonly hotBytes: number;
  readonly movedBytes: number;
}

const bytesOf = (hotSet: readonly Reads[]): number =>
  hotSet.reduce((sum, { kind, count }) => sum + count * sizes[kind].bytes, 0);

/** Runs `change` while a client goes through the hot set again and again, then reads all of it once more. */
async function whileLoaded(
  stage: Stage,
  what: string,
  change: () => Promise<void>,
): Promise<Resize> {
  const { run, origin, ours, hotSet } = stage;
  run.progress.say(`P9: ${what}`);
  const moved = (): Promise<number> => ours.sumOfNodes('s3accel_node_taken_over_bytes_total');
  const [sent, movedBefore] = [origin.sentBytes(), await moved()];
  const load = start(clientPrefix, [process.execPath, loadClient]);
  load.stdout?.resume();
  const job = jobOf(ours.gatewayPort, hotSet[0]!, 50_000_000, 8);
  load.stdin?.end(JSON.stringify(job));
  try {
    await sleep(500);
    await change();
    await sleep(1000);
    if (load.exitCode !== null) throw new Error(`the load ended:\n${load.output()}`);
  } finally {
    await stop(load);
  }
  await readAll(stage);
  await ours.settled();
  return {
    bytesFromS3: origin.sentBytes() - sent,
    hotBytes: bytesOf(hotSet),
    movedBytes: (await moved()) - movedBefore,
  };
}

async function readAll({ ours, hotSet }: Stage): Promise<void> {
  for (const reads of hotSet) await prime(ours.gatewayPort, reads);
}

/** Waits until the gateway places by a ring of that many members; half a minute at most. */
async function ringHas(ours: Accelerator, members: number): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    if ((await ours.metric(ours.gateway, 's3accel_ring_members')) === members) return;
    await sleep(100);
  }
  throw new Error(`the gateway's ring never had ${members} members`);
}

function resizeFigure(id: string, title: string, resize: Resize): FigureResult {
  const { bytesFromS3, hotBytes, movedBytes } = resize;
  const percent = (100 * bytesFromS3) / hotBytes;
  const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  return figureOf(
    {
      id,
      title: `${title}: share of the hot set that S3 sent again`,
      unit: '%',
      target: `≤ ${limitPercent}%`,
    },
    [percent],
    {
      used: percent / limitPercent,
      note: `hot set ${mebibytes(hotBytes)}, of which ${mebibytes(movedBytes)} came from previous owners`,
    },
  );
}
