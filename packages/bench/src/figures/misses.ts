/** P7: reads of what the cache doesn't hold, against reading the origin directly in the same run. */
import { join } from 'node:path';
import { credentials, startAccelerator, startOrigin } from '../accelerator.ts';
import { stop } from '../child.ts';
import type { FigureResult, Scale } from '../figure.ts';
import type { LoadJob } from '../load/job.ts';
import { median } from '../load/percentiles.ts';
import { measure, type Measured } from '../measure.ts';
import type { Progress } from '../progress.ts';

const smallBytes = 64 << 10;
const coldBytes = 256 << 20;
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
  rounds: number,
  progress: Progress,
  direct: (round: number) => Promise<Measured>,
  through: (round: number) => Promise<Measured>,
): Promise<{ direct: Measured[]; through: Measured[] }> {
  const measured = { direct: [] as Measured[], through: [] as Measured[] };
  // Keys are cold once only: the warm-up has its own.
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
  const value = median(rates);
  const peer = median(measured.direct.map((round) => round.bytesPerSecond / 2 ** 20));
  const ratios = measured.through.map(
    (round, index) => round.bytesPerSecond / (measured.direct[index]?.bytesPerSecond ?? Number.NaN),
  );
  const ratio = median(ratios);
  return {
    ...head,
    value,
    unit: 'MiB/s',
    peer,
    peerName: 'the origin directly',
    ratio,
    spread: [Math.min(...rates), Math.max(...rates)],
    pass: minimum === null || ratio >= minimum,
    note: minimum === null ? 'reported, no target' : '',
  };
}

/** Measures P7's three parts: throughput with a slow origin, first byte, and cold large reads. */
export async function measureMisses(
  directory: string,
  scale: Scale,
  progress: Progress,
): Promise<FigureResult[]> {
  const count = Math.min(scale.objects, 10_000);
  const small = Array.from(
    { length: scale.rounds + 1 },
    (_, round) => `cold/s${round}-:${count}:${smallBytes}`,
  );
  const large = Array.from(
    { length: scale.rounds + 1 },
    (_, round) => `cold/l${round}-:16:${coldBytes}`,
  );
  const results: FigureResult[] = [];

  const slow = await startOrigin(delayMs, small);
  const options = { cacheGibibytes: 4, processes: 1 } as const;
  const one = await startAccelerator({
    ...options,
    directory: join(directory, 'misses'),
    originPort: slow.port,
  });
  try {
    const run = (port: number, round: number): Promise<Measured> =>
      measure(missJob(port, `s${round}-`, count, smallBytes, smallConnections), []);
    const measured = await pairs(
      'P7',
      scale.rounds,
      progress,
      (round) => run(slow.port, round),
      (round) => run(one.gatewayPort, round),
    );
    const title = `64 KiB misses, an origin that answers after ${delayMs} ms, ${smallConnections} connections`;
    results.push(throughput({ id: 'P7a', title, target: '≥ 0.95 × directly' }, measured, 0.95));
    const added = measured.through.map(
      (round, index) =>
        round.firstByteMs.p50 - (measured.direct[index]?.firstByteMs.p50 ?? Number.NaN),
    );
    results.push({
      id: 'P7b',
      title: 'first byte of a miss, added to the origin’s, p50',
      value: median(added),
      unit: 'ms',
      target: '≤ 1 ms',
      peer: median(measured.direct.map((round) => round.firstByteMs.p50)),
      peerName: 'the origin directly',
      ratio: null,
      spread: [Math.min(...added), Math.max(...added)],
      pass: median(added) <= 1,
      note: '',
    });
  } finally {
    await one.stop();
    await stop(slow.child);
  }

  const fast = await startOrigin(0, large);
  const cold = await startAccelerator({
    ...options,
    directory: join(directory, 'cold'),
    originPort: fast.port,
  });
  try {
    const run = (port: number, round: number): Promise<Measured> =>
      measure(missJob(port, `l${round}-`, 16, coldBytes, 16), []);
    const measured = await pairs(
      'P7 cold',
      scale.rounds,
      progress,
      (round) => run(fast.port, round),
      (round) => run(cold.gatewayPort, round),
    );
    const title = 'cold 256 MiB reads, no delay, 16 connections';
    results.push(throughput({ id: 'P7c', title, target: 'the ratio, reported' }, measured, null));
  } finally {
    await cold.stop();
    await stop(fast.child);
  }
  return results;
}
