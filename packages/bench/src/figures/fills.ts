/**
 * P6: the tail of hits while other objects fill, against the same hits without, in the same run; and what filling writes to the disk for
 * each byte that it admits.
 *
 * The origin answers after 20 ms, so that a few connections make a steady stream of fills rather than as much as the processor bears.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { credentials, startAccelerator, startOrigin, type Accelerator } from '../accelerator.ts';
import { clientPrefix, start, stop } from '../child.ts';
import type { FigureResult, Scale } from '../figure.ts';
import type { LoadJob } from '../load/job.ts';
import { median } from '../load/percentiles.ts';
import { loadClient, measure, type Measured } from '../measure.ts';
import type { Progress } from '../progress.ts';

const hitBytes = 64 << 10;
const hitObjects = 2000;
const fillBytes = 1 << 20;
const delayMs = 20;
const connections = 64;
const fillConnections = 2;
/** More than one run of hits lets through. */
const fillObjects = 8000;
const smallFillBytes = 64 << 10;

const base = { bucket: 'bench', seed: 1, ...credentials } as const;

function hits(port: number, requests: number, parallel: number): LoadJob {
  const spread = { kind: 'objects', prefix: 'hit-', count: hitObjects } as const;
  return {
    ...base,
    port,
    spread,
    requests,
    bodyBytes: hitBytes,
    connections: parallel,
    sequential: false,
  };
}

function fills(port: number, prefix: string, requests: number, bodyBytes: number): LoadJob {
  const spread = { kind: 'objects', prefix, count: requests } as const;
  return {
    ...base,
    port,
    spread,
    requests,
    bodyBytes,
    connections: fillConnections,
    sequential: true,
  };
}

async function nodeMetric(accelerator: Accelerator, name: string): Promise<number> {
  const text = await accelerator.nodeMetrics();
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN);
}

/** Bytes that a process has caused to be written to disks. */
function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

/** Runs a job while another client fills objects that nobody has read before. Returns the fills a second, too. */
async function whileFilling(
  accelerator: Accelerator,
  job: LoadJob,
  prefix: string,
): Promise<Measured & { readonly fillsPerSecond: number }> {
  const filler = start(clientPrefix, [process.execPath, loadClient]);
  filler.stdout?.resume();
  filler.stdin?.end(JSON.stringify(fills(accelerator.gatewayPort, prefix, fillObjects, fillBytes)));
  try {
    const stored = (): Promise<number> =>
      nodeMetric(accelerator, 's3accel_node_blocks_stored_total');
    const before = await stored();
    while ((await stored()) < before + 10) await sleep(50);
    const [from, began] = [await stored(), performance.now()];
    const measured = await measure(job, accelerator.pids);
    const seconds = (performance.now() - began) / 1000;
    if (filler.exitCode !== null)
      throw new Error(`the fills ended before the hits:\n${filler.output()}`);
    return { ...measured, fillsPerSecond: ((await stored()) - from) / seconds };
  } finally {
    await stop(filler);
  }
}

async function tailFigure(
  accelerator: Accelerator,
  scale: Scale,
  progress: Progress,
  part: { readonly id: string; readonly parallel: number; readonly decides: boolean },
): Promise<FigureResult> {
  const { id, parallel, decides } = part;
  const job = hits(
    accelerator.gatewayPort,
    Math.round(scale.requests / (parallel === 1 ? 20 : 4)),
    parallel,
  );
  const alone: number[] = [];
  const filling: number[] = [];
  const rates: number[] = [];
  await measure(job, []);
  for (let round = 0; round < scale.rounds; round++) {
    progress.say(`${id}: round ${round + 1} of ${scale.rounds}`);
    alone.push((await measure(job, [])).firstByteMs.p99);
    const both = await whileFilling(accelerator, job, `fill-${id}-${round}-`);
    filling.push(both.firstByteMs.p99);
    rates.push(both.fillsPerSecond);
  }
  const ratios = filling.map((value, round) => value / (alone[round] ?? Number.NaN));
  const ratio = median(ratios);
  return {
    id,
    title: `first byte of a 64 KiB hit while other objects fill, p99, ${parallel} connection${parallel === 1 ? '' : 's'}`,
    value: median(filling),
    unit: 'ms',
    target: decides ? '≤ 2 × without fills' : 'reported',
    peer: median(alone),
    peerName: 'the same hits without fills',
    ratio,
    spread: [Math.min(...filling), Math.max(...filling)],
    pass: !decides || ratio <= 2,
    note: `${median(rates).toFixed(0)} fills of 1 MiB a second`,
  };
}

/** Bytes written to the disk for each byte of the blocks that were stored meanwhile. */
async function amplificationFigure(
  accelerator: Accelerator,
  scale: Scale,
  progress: Progress,
  part: { readonly id: string; readonly bodyBytes: number },
): Promise<FigureResult> {
  const { id, bodyBytes } = part;
  const pid = accelerator.pids[0] ?? 0;
  const count = Math.min(4000, Math.round(scale.requests / 30));
  const values: number[] = [];
  for (let round = 0; round < scale.rounds; round++) {
    progress.say(`${id}: round ${round + 1} of ${scale.rounds}`);
    const stored = await nodeMetric(accelerator, 's3accel_node_blocks_stored_total');
    const written = writtenBytes(pid);
    await measure(fills(accelerator.gatewayPort, `write-${id}-${round}-`, count, bodyBytes), []);
    // The last rows are written a moment after their blocks are served.
    while ((await nodeMetric(accelerator, 's3accel_node_unrecorded_blocks')) > 0) await sleep(50);
    const blocks = (await nodeMetric(accelerator, 's3accel_node_blocks_stored_total')) - stored;
    values.push((writtenBytes(pid) - written) / (blocks * bodyBytes));
  }
  return {
    id,
    title: `bytes written for each byte admitted, blocks of ${bodyBytes >> 10} KiB`,
    value: median(values),
    unit: '×',
    target: '≤ 1.05',
    peer: null,
    peerName: '',
    ratio: null,
    spread: [Math.min(...values), Math.max(...values)],
    pass: median(values) <= 1.05,
    note: '',
  };
}

/** Measures P6's parts. */
export async function measureFills(
  directory: string,
  scale: Scale,
  progress: Progress,
): Promise<FigureResult[]> {
  const objects = [`bench/hit-:${hitObjects}:${hitBytes}`];
  for (let round = 0; round < scale.rounds; round++) {
    for (const id of ['P6a', 'P6b'])
      objects.push(`bench/fill-${id}-${round}-:${fillObjects}:${fillBytes}`);
    objects.push(`bench/write-P6c-${round}-:4000:${fillBytes}`);
    objects.push(`bench/write-P6d-${round}-:4000:${smallFillBytes}`);
  }
  const origin = await startOrigin(delayMs, objects);
  const accelerator = await startAccelerator({
    directory: join(directory, 'fills'),
    originPort: origin.port,
    cacheGibibytes: 4,
    processes: 1,
  });
  try {
    progress.say('P6: warm-up');
    const all = { ...hits(accelerator.gatewayPort, hitObjects, 32), sequential: true };
    await measure(all, []);
    return [
      await tailFigure(accelerator, scale, progress, {
        id: 'P6a',
        parallel: connections,
        decides: true,
      }),
      await tailFigure(accelerator, scale, progress, { id: 'P6b', parallel: 1, decides: false }),
      await amplificationFigure(accelerator, scale, progress, { id: 'P6c', bodyBytes: fillBytes }),
      await amplificationFigure(accelerator, scale, progress, {
        id: 'P6d',
        bodyBytes: smallFillBytes,
      }),
    ];
  } finally {
    await accelerator.stop();
    await stop(origin.child);
  }
}
