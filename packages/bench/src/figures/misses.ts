/** P7: reads of what the cache doesn't hold, against reading the origin directly in the same run. */
import { join } from 'node:path';
import { startAccelerator } from '../accelerator/accelerator.ts';
import { credentials } from '../accelerator/config.ts';
import { startOrigin } from '../accelerator/origin.ts';
import { figureOf, type FigureResult } from '../figure.ts';
import type { LoadJob } from '../load/job.ts';
import { median } from '../load/percentiles.ts';
import { measure, type Measured } from '../measure.ts';
import type { Run } from '../run.ts';

const smallBytes = 64 << 10;
const delayMs = 20;
/** As many as leave two cores, which also run the origin and the client, something to spare. */
const smallConnections = 16;

function missJob(
  port: number,
  prefix: string,
  count: number,
  bodyBytes: number,
  connections: number,
): LoadJob {
  const spread = { kind: 'objects', prefix, count } as const;
  const base = { port, spread, bodyBytes, connections, bucket: 'cold', seed: 1, ...credentials };
  return { ...base, requests: count, sequential: true };
}

async function pairs(
  title: string,
  { scale: { rounds }, progress }: Run,
  direct: (round: number) => Promise<Measured>,
  through: (round: number) => Promise<Measured>,
): Promise<{ direct: Measured[]; through: Measured[] }> {
  const measured = { direct: [] as Measured[], through: [] as Measured[] };
  progress.say(`${title}: warm-up`);
  await direct(rounds);
  await through(rounds);
  for (let round = 0; round < rounds; round++) {
    progress.say(`${title}: round ${round + 1} of ${rounds}`);
    measured.direct.push(await direct(round));
    measured.through.push(await through(round));
  }
  return measured;
}

function throughput(
  head: { id: string; title: string; target: string },
  measured: { direct: Measured[]; through: Measured[] },
  minimum: number | null,
): FigureResult {
  const rates = measured.through.map((round) => round.bytesPerSecond / 2 ** 20);
  const peer = median(measured.direct.map((round) => round.bytesPerSecond / 2 ** 20));
  const ratios = measured.through.map(
    (round, index) => round.bytesPerSecond / (measured.direct[index]?.bytesPerSecond ?? Number.NaN),
  );
  const ratio = median(ratios);
  return figureOf({ ...head, unit: 'MiB/s' }, rates, {
    peer,
    peerName: 'the origin directly',
    ratio,
    used: minimum === null ? null : minimum / ratio,
    note: minimum === null ? 'no target' : '',
  });
}

/** Throughput with a slow origin, and what a miss adds to its first byte. */
async function slowOrigin(run: Run, count: number): Promise<FigureResult[]> {
  const origin = await startOrigin(delayMs, keysOf(run, 's', count, smallBytes));
  const ours = await startAccelerator({
    directory: join(run.directory, 'misses'),
    originPort: origin.port,
    cacheGibibytes: 4,
    processes: 1,
  });
  try {
    const read = (port: number, round: number): Promise<Measured> =>
      measure(missJob(port, `s${round}-`, count, smallBytes, smallConnections), []);
    const measured = await pairs(
      'P7',
      run,
      (round) => read(origin.port, round),
      (round) => read(ours.gatewayPort, round),
    );
    const title = `64 KiB misses, an origin that answers after ${delayMs} ms, ${smallConnections} connections`;
    const added = measured.through.map(
      (round, index) =>
        round.firstByteMs.p50 - (measured.direct[index]?.firstByteMs.p50 ?? Number.NaN),
    );
    return [
      throughput({ id: 'P7a', title, target: '≥ 0.95 × directly' }, measured, 0.95),
      figureOf(
        {
          id: 'P7b',
          title: 'first byte of a miss, added to the origin’s, p50',
          unit: 'ms',
          target: '≤ 1 ms',
        },
        added,
        {
          peer: median(measured.direct.map((round) => round.firstByteMs.p50)),
          peerName: 'the origin directly',
          used: median(added),
        },
      ),
    ];
  } finally {
    await ours.stop();
    await origin.stop();
  }
}

async function coldReads(run: Run): Promise<FigureResult> {
  const { count, bytes } = run.scale.cold;
  const origin = await startOrigin(0, keysOf(run, 'l', count, bytes));
  const ours = await startAccelerator({
    directory: join(run.directory, 'cold'),
    originPort: origin.port,
    cacheGibibytes: 4,
    processes: 1,
  });
  try {
    const read = (port: number, round: number): Promise<Measured> =>
      measure(missJob(port, `l${round}-`, count, bytes, count), []);
    const measured = await pairs(
      'P7 cold',
      run,
      (round) => read(origin.port, round),
      (round) => read(ours.gatewayPort, round),
    );
    const title = `cold ${bytes >> 20} MiB reads, no delay, ${count} connections`;
    return throughput({ id: 'P7c', title, target: 'the ratio, reported' }, measured, null);
  } finally {
    await ours.stop();
    await origin.stop();
  }
}

/** Keys are cold once only: each round has its own, and the warm-up too. */
function keysOf({ scale }: Run, prefix: string, count: number, bytes: number): string[] {
  return Array.from(
    { length: scale.rounds + 1 },
    (_, round) => `cold/${prefix}${round}-:${count}:${bytes}`,
  );
}

/** Measures P7's three parts. */
export async function measureMisses(run: Run): Promise<FigureResult[]> {
  return [...(await slowOrigin(run, Math.min(run.scale.objects, 10_000))), await coldReads(run)];
}
