/** P1, P2, P3 and P5: hits, in CPU time a request beside nginx, and in time to the first byte. */
import { join } from 'node:path';
import { credentials, startAccelerator, startOrigin, type Accelerator } from '../accelerator.ts';
import { serverPrefix, stop } from '../child.ts';
import type { FigureResult, Scale } from '../figure.ts';
import type { LoadJob, Spread } from '../load/job.ts';
import { median } from '../load/percentiles.ts';
import { measure, type Measured } from '../measure.ts';
import { nginxVersion, startNginx, type RunningNginx } from '../peers/nginx.ts';
import { freePorts } from '../ports.ts';
import { processTree } from '../process-cpu.ts';
import type { Progress } from '../progress.ts';

const largeBytes = 256 << 20;
const smallBytes = 64 << 10;
const rangeBytes = 4 << 10;
const connections = 64;

export const hitFigures = ['P1', 'P2', 'P3', 'P5'] as const;

interface Stage {
  readonly scale: Scale;
  readonly progress: Progress;
  readonly nginx: {
    readonly running: RunningNginx;
    readonly relay: number;
    readonly cache: number;
  } | null;
}

function job(port: number, spread: Spread, bodyBytes: number, requests: number): LoadJob {
  const base = { port, spread, bodyBytes, requests, bucket: 'bench', seed: 1, ...credentials };
  return { ...base, connections, sequential: false };
}

const ranges = (scale: Scale): Spread => ({
  kind: 'ranges',
  keys: Array.from({ length: scale.largeObjects }, (_, index) => `large-${index}`),
  objectBytes: largeBytes,
});

const objects = (scale: Scale): Spread => ({
  kind: 'objects',
  prefix: 'small-',
  count: scale.objects,
});

/** Reads everything that a figure will read once, so that what follows are hits. */
async function prime(port: number, spread: Spread): Promise<void> {
  if (spread.kind === 'ranges') {
    const whole = job(port, spread, spread.objectBytes, spread.keys.length);
    await measure({ ...whole, connections: 1, sequential: true }, []);
    return;
  }
  await measure(
    { ...job(port, spread, smallBytes, spread.count), connections: 32, sequential: true },
    [],
  );
}

async function alternate(
  stage: Stage,
  title: string,
  ours: () => Promise<Measured>,
  peer: (() => Promise<Measured>) | null,
): Promise<{ ours: Measured[]; peer: Measured[] }> {
  const rounds = { ours: [] as Measured[], peer: [] as Measured[] };
  // Code is compiled and queues are sized in a round that doesn't count.
  stage.progress.say(`${title}: warm-up`);
  await ours();
  if (peer !== null) await peer();
  for (let round = 0; round < stage.scale.rounds; round++) {
    stage.progress.say(`${title}: round ${round + 1} of ${stage.scale.rounds}`);
    rounds.ours.push(await ours());
    if (peer !== null) rounds.peer.push(await peer());
  }
  return rounds;
}

/** A figure in CPU microseconds a request: the median of the rounds, with the ratio to the peer's median. */
function cpuFigure(
  head: { id: string; title: string; target: string; peerName: string },
  rounds: { ours: Measured[]; peer: Measured[] },
  limits: { absolute: number; ratio: number },
): FigureResult {
  const cpu = rounds.ours.map((round) => round.cpuUs);
  const value = median(cpu);
  const peer = rounds.peer.length === 0 ? null : median(rounds.peer.map((round) => round.cpuUs));
  const ratio = peer === null ? null : value / peer;
  const rate = Math.round(median(rounds.ours.map((round) => round.requestsPerSecond)));
  const p99 = median(rounds.ours.map((round) => round.firstByteMs.p99));
  const { id, title, target, peerName } = head;
  return {
    id,
    title,
    target,
    peerName,
    value,
    unit: 'us/request',
    peer,
    ratio,
    spread: [Math.min(...cpu), Math.max(...cpu)],
    pass: value <= limits.absolute && (ratio === null || ratio <= limits.ratio),
    note: `${rate} requests/s, first byte p99 ${p99.toFixed(2)} ms at ${connections} connections`,
  };
}

async function p2(stage: Stage, ours: Accelerator): Promise<FigureResult> {
  const spread = ranges(stage.scale);
  const { nginx } = stage;
  await prime(ours.gatewayPort, spread);
  if (nginx !== null) await prime(nginx.cache, spread);
  const requests = stage.scale.requests;
  const rounds = await alternate(
    stage,
    'P2',
    () => measure(job(ours.gatewayPort, spread, rangeBytes, requests), ours.pids),
    nginx === null
      ? null
      : () =>
          measure(
            job(nginx.cache, spread, rangeBytes, requests),
            processTree(nginx.running.cache.pid ?? 0),
          ),
  );
  const head = {
    id: 'P2',
    title: '4 KiB range hit, signature checked, one process',
    target: '≤ 20 µs and ≤ 1.0 × nginx proxy_cache, one hop, no signature',
    peerName: 'nginx proxy_cache',
  };
  return cpuFigure(head, rounds, { absolute: 20, ratio: 1 });
}

async function twoHops(
  stage: Stage,
  ours: Accelerator,
  figure: { id: string; title: string; target: string; absolute: number; ratio: number },
  spread: Spread,
  bodyBytes: number,
): Promise<FigureResult> {
  const { nginx } = stage;
  await prime(ours.gatewayPort, spread);
  if (nginx !== null) await prime(nginx.relay, spread);
  const requests = Math.round(stage.scale.requests / (bodyBytes > rangeBytes ? 2 : 1));
  const peerPids =
    nginx === null
      ? []
      : [nginx.running.relay, nginx.running.cache].flatMap((child) => processTree(child.pid ?? 0));
  const rounds = await alternate(
    stage,
    figure.id,
    () => measure(job(ours.gatewayPort, spread, bodyBytes, requests), ours.pids),
    nginx === null ? null : () => measure(job(nginx.relay, spread, bodyBytes, requests), peerPids),
  );
  return cpuFigure({ ...figure, peerName: 'nginx, two hops' }, rounds, figure);
}

async function p5(stage: Stage, ours: Accelerator): Promise<FigureResult[]> {
  const spread = ranges(stage.scale);
  await prime(ours.gatewayPort, spread);
  const requests = Math.round(stage.scale.requests / 10);
  const one = { ...job(ours.gatewayPort, spread, rangeBytes, requests), connections: 1 };
  const rounds = await alternate(stage, 'P5', () => measure(one, ours.pids), null);
  const figure = (id: string, share: 'p50' | 'p99', limit: number): FigureResult => {
    const values = rounds.ours.map((round) => round.firstByteMs[share]);
    const value = median(values);
    return {
      id,
      title: `first byte of a 4 KiB hit, one connection, ${share}`,
      value,
      unit: 'ms',
      target: `≤ ${limit} ms`,
      peer: null,
      peerName: '',
      ratio: null,
      spread: [Math.min(...values), Math.max(...values)],
      pass: value <= limit,
      note: `${Math.round(median(rounds.ours.map((round) => round.cpuUs)))} µs of CPU a request`,
    };
  };
  return [figure('P5a', 'p50', 0.15), figure('P5b', 'p99', 1)];
}

/** Measures the hit figures that `wanted` names. */
export async function measureHits(
  directory: string,
  scale: Scale,
  wanted: (id: string) => boolean,
  progress: Progress,
): Promise<FigureResult[]> {
  const results: FigureResult[] = [];
  const origin = await startOrigin(0, [
    `bench/large-:${scale.largeObjects}:${largeBytes}`,
    `bench/small-:${scale.objects}:${smallBytes}`,
  ]);
  const [relay = 0, cache = 0, files = 0] = await freePorts(3);
  const running =
    nginxVersion() === null
      ? null
      : await startNginx({
          directory: join(directory, 'nginx'),
          ports: { relay, cache, origin: files },
          largeBytes,
          smallBytes,
          launch: serverPrefix,
        });
  const stage: Stage = {
    scale,
    progress,
    nginx: running === null ? null : { running, relay, cache },
  };
  const accelerator = (processes: 1 | 2): Promise<Accelerator> =>
    startAccelerator({
      directory: join(directory, `accelerator-${processes}`),
      originPort: origin.port,
      cacheGibibytes: 8,
      processes,
    });
  try {
    if (wanted('P2') || wanted('P5')) {
      const one = await accelerator(1);
      try {
        if (wanted('P2')) results.push(await p2(stage, one));
        if (wanted('P5')) results.push(...(await p5(stage, one)));
      } finally {
        await one.stop();
      }
    }
    if (wanted('P1') || wanted('P3')) {
      const two = await accelerator(2);
      try {
        const p1 = {
          id: 'P1',
          title: '4 KiB range hit, signature checked, gateway + node',
          target: '≤ 22 µs and ≤ 0.5 × nginx, two hops, no signature',
          absolute: 22,
          ratio: 0.5,
        };
        if (wanted('P1')) results.push(await twoHops(stage, two, p1, ranges(scale), rangeBytes));
        const p3 = {
          id: 'P3',
          title: '64 KiB object hit, signature checked, gateway + node',
          target: '≤ 42 µs and ≤ 0.75 × nginx, two hops, no signature',
          absolute: 42,
          ratio: 0.75,
        };
        if (wanted('P3')) results.push(await twoHops(stage, two, p3, objects(scale), smallBytes));
      } finally {
        await two.stop();
      }
    }
  } finally {
    await running?.stop();
    await stop(origin.child);
  }
  return results;
}
