/** P13: CPU time a request with a second gateway loop, and over few and many connections. */
import { join } from 'node:path';
import { startAccelerator, type Accelerator } from '../accelerator/accelerator.ts';
import { startOrigin } from '../accelerator/origin.ts';
import type { FigureResult } from '../figure.ts';
import { median } from '../load/percentiles.ts';
import { figureOf } from '../figure.ts';
import { measure, type Measured } from '../measure.ts';
import { alternate, cpuOf, type Contender } from '../rounds.ts';
import type { Run } from '../run.ts';
import { connections, jobOf, prime, rangesOf, synthetic, type Reads } from './jobs.ts';

const many = 1024;

export async function measureScaling(run: Run): Promise<FigureResult[]> {
  const origin = await startOrigin(0, [synthetic(run.scale.ranged.kind, run.scale.ranged.count)]);
  const start = (loops: number): Promise<Accelerator> =>
    startAccelerator({
      directory: join(run.directory, `loops-${loops}`),
      originPort: origin.port,
      cacheGibibytes: 2,
      processes: 2,
      gatewayLines: `loops = ${loops}`,
      isFree: true,
    });
  const one = await start(1);
  try {
    const two = await start(2);
    try {
      for (const ours of [one, two]) {
        await prime(ours.gatewayPort, rangesOf(run.scale));
        await ours.settled();
      }
      return [...(await overLoops(run, one, two)), ...(await overConnections(run, one))];
    } finally {
      await two.stop();
    }
  } finally {
    await one.stop();
    await origin.stop();
  }
}

const contender = (
  name: string,
  ours: Accelerator,
  reads: Reads,
  requests: number,
  over: number,
): Contender => ({
  name,
  run: () => measure(jobOf(ours.gatewayPort, reads, requests, over), ours.pids),
});

function ratioFigure(
  head: { readonly id: string; readonly title: string; readonly target: string },
  rounds: readonly Measured[],
  base: readonly Measured[],
  baseName: string,
  usedOf: (ratio: number) => number,
): FigureResult {
  const peer = median(cpuOf(base));
  const ratio = median(cpuOf(rounds)) / peer;
  const rate = Math.round(median(rounds.map(({ requestsPerSecond }) => requestsPerSecond)));
  return figureOf({ ...head, unit: 'us/request' }, cpuOf(rounds), {
    peer,
    peerName: baseName,
    ratio,
    used: usedOf(ratio),
    note: `${rate} requests/s`,
  });
}

async function overLoops(run: Run, one: Accelerator, two: Accelerator): Promise<FigureResult[]> {
  const { requests, rounds } = run.scale;
  const reads = rangesOf(run.scale);
  const [ofTwo = [], ofOne = []] = await alternate(
    { title: 'P13, loops', rounds, progress: run.progress },
    [
      contender('two loops', two, reads, requests, connections),
      contender('one loop', one, reads, requests, connections),
    ],
  );
  const head = {
    id: 'P13a',
    title: '4 KiB range hit with two gateway loops, on two processors',
    target: '≤ 1.1 × one loop',
  };
  return [ratioFigure(head, ofTwo, ofOne, 'one loop', (ratio) => ratio / 1.1)];
}

async function overConnections(run: Run, ours: Accelerator): Promise<FigureResult[]> {
  const { requests, rounds } = run.scale;
  const reads = rangesOf(run.scale);
  const [ofMany = [], of64 = [], ofOne = []] = await alternate(
    { title: 'P13, connections', rounds, progress: run.progress },
    [
      contender('many', ours, reads, requests, many),
      contender('64', ours, reads, requests, connections),
      contender('one', ours, reads, requests / 10, 1),
    ],
  );
  const base = `${connections} connections`;
  return [
    ratioFigure(
      {
        id: 'P13b',
        title: `4 KiB range hit over ${many} connections`,
        target: `within 25% of ${base}`,
      },
      ofMany,
      of64,
      base,
      (ratio) => Math.abs(ratio - 1) / 0.25,
    ),
    ratioFigure(
      { id: 'P13c', title: '4 KiB range hit over one connection', target: `≤ 2.5 × ${base}` },
      ofOne,
      of64,
      base,
      (ratio) => ratio / 2.5,
    ),
  ];
}
