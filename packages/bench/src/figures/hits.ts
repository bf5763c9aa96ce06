/** P1, P2, P3 and P5: hits, in CPU time a request beside nginx, and in time to the first byte. */
import { join } from 'node:path';
import { startAccelerator, type Accelerator } from '../accelerator/accelerator.ts';
import { startOrigin, type Origin } from '../accelerator/origin.ts';
import { figureOf, type FigureResult } from '../figure.ts';
import { median } from '../load/percentiles.ts';
import { serverPrefix } from '../machine/child.ts';
import { measure } from '../measure.ts';
import { nginxVersion, startNginx, type RunningNginx } from '../peers/nginx.ts';
import type { RunningPeer } from '../peers/peer.ts';
import { alternate, cpuFigure, type Contender } from '../rounds.ts';
import type { Run } from '../run.ts';
import { jobOf, prime, rangesOf, sizes, synthetic, wholes, type Reads } from './jobs.ts';

const manyNodes = 8;

interface Stage {
  readonly run: Run;
  readonly origin: Origin;
  readonly nginx: RunningNginx | null;
}

interface HitFigure {
  readonly id: string;
  readonly title: string;
  readonly target: string;
  readonly reads: Reads;
  readonly requests: number;
  readonly peer: { readonly role: 'cache' | 'relay'; readonly name: string };
  readonly limits: { readonly absolute: number; readonly ratio: number } | null;
}

function contender(name: string, peer: Omit<RunningPeer, 'stop'>, figure: HitFigure): Contender {
  const { reads, requests } = figure;
  return {
    name,
    run: () => measure(jobOf(peer.port, reads, requests), peer.pids()),
  };
}

async function hitFigure(
  { run, nginx }: Stage,
  ours: Accelerator,
  figure: HitFigure,
): Promise<FigureResult> {
  await prime(ours.gatewayPort, figure.reads);
  await ours.settled();
  const own = { port: ours.gatewayPort, pids: () => ours.pids };
  const contenders = [contender('s3-accelerator', own, figure)];
  const peer = nginx?.peer(figure.peer.role);
  if (peer !== undefined) {
    await prime(peer.port, figure.reads);
    contenders.push(contender(figure.peer.name, peer, figure));
  }
  const [mine = [], theirs = null] = await alternate(
    { title: figure.id, rounds: run.scale.rounds, progress: run.progress },
    contenders,
  );
  const { id, title, target, limits } = figure;
  return cpuFigure({ id, title, target, peerName: figure.peer.name }, mine, theirs, limits);
}

async function firstByte({ run }: Stage, ours: Accelerator): Promise<FigureResult[]> {
  const reads = rangesOf(run.scale);
  await prime(ours.gatewayPort, reads);
  await ours.settled();
  const requests = run.scale.requests / 10;
  const [rounds = []] = await alternate(
    { title: 'P5', rounds: run.scale.rounds, progress: run.progress },
    [
      {
        name: 's3-accelerator',
        run: () => measure(jobOf(ours.gatewayPort, reads, requests, 1), ours.pids),
      },
    ],
  );
  const cpu = Math.round(median(rounds.map((round) => round.cpuUs)));
  const figure = (id: string, share: 'p50' | 'p99', limit: number): FigureResult => {
    const values = rounds.map((round) => round.firstByteMs[share]);
    return figureOf(
      {
        id,
        title: `first byte of a 4 KiB hit, one connection, ${share}`,
        unit: 'ms',
        target: `≤ ${limit} ms`,
      },
      values,
      { used: median(values) / limit, note: `${cpu} µs of CPU a request` },
    );
  };
  return [figure('P5a', 'p50', 0.15), figure('P5b', 'p99', 1)];
}

/** Measures the hit figures that `run` wants. */
export async function measureHits(run: Run): Promise<FigureResult[]> {
  const { scale, directory, isWanted } = run;
  const origin = await startOrigin(0, [
    synthetic(scale.ranged.kind, scale.ranged.count),
    synthetic('small', scale.objects),
  ]);
  const nginx =
    nginxVersion() === null
      ? null
      : await startNginx({
          directory: join(directory, 'nginx'),
          sizes: [sizes[scale.ranged.kind], sizes.small],
          launch: serverPrefix,
        });
  const stage: Stage = { run, origin, nginx };
  try {
    const results: FigureResult[] = [];
    if (isWanted('P2') || isWanted('P5')) results.push(...(await oneProcess(stage)));
    if (isWanted('P1') || isWanted('P3')) results.push(...(await twoProcesses(stage)));
    if (isWanted('P1') && run.scale.hasManyNodes) results.push(await withManyNodes(stage));
    return results.sort((a, b) => (a.id < b.id ? -1 : 1));
  } finally {
    await nginx?.stop();
    await origin.stop();
  }
}

async function oneProcess(stage: Stage): Promise<FigureResult[]> {
  const { scale, isWanted } = stage.run;
  return within(stage, { name: 'one', processes: 1, nodes: 1 }, async (ours) => {
    const results: FigureResult[] = [];
    if (isWanted('P2')) {
      results.push(
        await hitFigure(stage, ours, {
          id: 'P2',
          title: '4 KiB range hit, signature checked, one process',
          target: '≤ 20 µs and ≤ 1.0 × nginx proxy_cache, one hop, no signature',
          reads: rangesOf(scale),
          requests: scale.requests,
          peer: { role: 'cache', name: 'nginx proxy_cache' },
          limits: { absolute: 20, ratio: 1 },
        }),
      );
    }
    if (isWanted('P5')) results.push(...(await firstByte(stage, ours)));
    return results;
  });
}

const twoHops = { role: 'relay', name: 'nginx, two hops' } as const;

async function twoProcesses(stage: Stage): Promise<FigureResult[]> {
  const { scale, isWanted } = stage.run;
  return within(stage, { name: 'two', processes: 2, nodes: 1 }, async (ours) => {
    const results: FigureResult[] = [];
    if (isWanted('P1')) {
      results.push(
        await hitFigure(stage, ours, {
          id: 'P1',
          title: '4 KiB range hit, signature checked, gateway + node',
          target: '≤ 22 µs and ≤ 0.5 × nginx, two hops, no signature',
          reads: rangesOf(scale),
          requests: scale.requests,
          peer: twoHops,
          limits: { absolute: 22, ratio: 0.5 },
        }),
      );
    }
    if (isWanted('P3')) {
      results.push(
        await hitFigure(stage, ours, {
          id: 'P3',
          title: '64 KiB object hit, signature checked, gateway + node',
          target: '≤ 42 µs and ≤ 0.75 × nginx, two hops, no signature',
          reads: wholes('small', scale.objects),
          requests: scale.requests / 2,
          peer: twoHops,
          limits: { absolute: 42, ratio: 0.75 },
        }),
      );
    }
    return results;
  });
}

/** The gateway's requests are spread over eight nodes: fewer of them share a system call. */
async function withManyNodes(stage: Stage): Promise<FigureResult> {
  const { scale } = stage.run;
  return within(stage, { name: 'many', processes: 2, nodes: manyNodes }, (ours) =>
    hitFigure(stage, ours, {
      id: 'P1b',
      title: `4 KiB range hit, signature checked, gateway + ${manyNodes} nodes`,
      target: 'reported',
      reads: rangesOf(scale),
      requests: scale.requests,
      peer: twoHops,
      limits: null,
    }),
  );
}

async function within<T>(
  { run, origin }: Stage,
  shape: { readonly name: string; readonly processes: 1 | 2; readonly nodes: number },
  work: (ours: Accelerator) => Promise<T>,
): Promise<T> {
  const accelerator = await startAccelerator({
    directory: join(run.directory, shape.name),
    originPort: origin.port,
    cacheGibibytes: shape.nodes === 1 ? 8 : 1,
    processes: shape.processes,
    nodes: shape.nodes,
  });
  try {
    return await work(accelerator);
  } finally {
    await accelerator.stop();
  }
}
