/**
 * P6: the tail of hits while other objects fill, against the same hits without, in the same run; and what filling writes to the disk for
 * each byte that it admits.
 *
 * The origin answers after 20 ms, so that a few connections make a steady stream of fills rather than as much as the processor bears.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAccelerator, type Accelerator } from '../accelerator/accelerator.ts';
import { credentials } from '../accelerator/config.ts';
import { startOrigin } from '../accelerator/origin.ts';
import { figureOf, type FigureResult } from '../figure.ts';
import type { LoadJob } from '../load/job.ts';
import { median } from '../load/percentiles.ts';
import { besidePrefix, start, stop, type StartedChild } from '../machine/child.ts';
import { bytesToDisk } from '../machine/process-io.ts';
import { loadClient, measure, type Measured } from '../measure.ts';
import type { Run } from '../run.ts';

const hitBytes = 64 << 10;
const hitObjects = 2000;
const fillBytes = 1 << 20;
const delayMs = 20;
const connections = 64;
const fillConnections = 2;
/** More than one run of hits lets through. */
const fillObjects = 8000;
const smallFillBytes = 64 << 10;
const directWarmUpMs = 300;

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

const storedBlocks = (accelerator: Accelerator): Promise<number> =>
  accelerator.sumOfNodes('s3accel_node_blocks_stored_total');

/** Another client, which reads objects of 1 MiB that nobody has read before. */
function startFiller(port: number, prefix: string): StartedChild {
  const filler = start(besidePrefix, [process.execPath, loadClient]);
  filler.stdout?.resume();
  filler.stdin?.end(JSON.stringify(fills(port, prefix, fillObjects, fillBytes)));
  return filler;
}

/** Runs a job while such a client reads straight from S3: what sharing a processor with that client and S3 costs by itself. */
async function besideDirectReads(
  originPort: number,
  job: LoadJob,
  prefix: string,
): Promise<Measured> {
  const reader = startFiller(originPort, prefix);
  try {
    await sleep(directWarmUpMs);
    return await measure(job, []);
  } finally {
    await stop(reader);
  }
}

/** Runs a job while such a client has the accelerator fill. Returns the fills a second, too. */
async function whileFilling(
  accelerator: Accelerator,
  job: LoadJob,
  prefix: string,
): Promise<Measured & { readonly fillsPerSecond: number }> {
  const filler = startFiller(accelerator.gatewayPort, prefix);
  try {
    const before = await storedBlocks(accelerator);
    while ((await storedBlocks(accelerator)) < before + 10) await sleep(50);
    const [from, began] = [await storedBlocks(accelerator), performance.now()];
    const measured = await measure(job, accelerator.pids);
    const seconds = (performance.now() - began) / 1000;
    if (filler.exitCode !== null)
      throw new Error(`the fills ended before the hits:\n${filler.output()}`);
    return { ...measured, fillsPerSecond: ((await storedBlocks(accelerator)) - from) / seconds };
  } finally {
    await stop(filler);
  }
}

async function tailFigure(
  { scale, progress }: Run,
  accelerator: Accelerator,
  part: {
    readonly id: string;
    readonly parallel: number;
    readonly decides: boolean;
    readonly originPort: number;
  },
): Promise<FigureResult> {
  const { id, parallel, decides, originPort } = part;
  const job = hits(
    accelerator.gatewayPort,
    Math.round(scale.requests / (parallel === 1 ? 20 : 4)),
    parallel,
  );
  const alone: number[] = [];
  const control: number[] = [];
  const filling: number[] = [];
  const rates: number[] = [];
  await measure(job, []);
  for (let round = 0; round < scale.rounds; round++) {
    progress.say(`${id}: round ${round + 1} of ${scale.rounds}`);
    alone.push((await measure(job, [])).firstByteMs.p99);
    const direct = await besideDirectReads(originPort, job, `fill-${id}-${round}-`);
    control.push(direct.firstByteMs.p99);
    const both = await whileFilling(accelerator, job, `fill-${id}-${round}-`);
    filling.push(both.firstByteMs.p99);
    rates.push(both.fillsPerSecond);
  }
  const ratios = filling.map((value, round) => value / (alone[round] ?? Number.NaN));
  const ratio = median(ratios);
  return figureOf(
    {
      id,
      title: `first byte of a 64 KiB hit while other objects fill, p99, ${parallel} connection${parallel === 1 ? '' : 's'}`,
      unit: 'ms',
      target: decides ? '≤ 2 × without fills' : 'reported',
    },
    filling,
    {
      peer: median(alone),
      peerName: 'the same hits without fills',
      ratio,
      used: decides ? ratio / 2 : null,
      note: `${median(rates).toFixed(0)} fills of 1 MiB a second; ${median(control).toFixed(2)} ms while the same client reads straight from S3`,
    },
  );
}

/** Bytes written to the disk for each byte of the blocks that were stored meanwhile. */
async function amplificationFigure(
  { scale, progress }: Run,
  accelerator: Accelerator,
  part: { readonly id: string; readonly bodyBytes: number },
): Promise<FigureResult> {
  const { id, bodyBytes } = part;
  const pid = accelerator.pids[0] ?? 0;
  const count = Math.min(4000, Math.round(scale.requests / 30));
  const values: number[] = [];
  for (let round = 0; round < scale.rounds; round++) {
    progress.say(`${id}: round ${round + 1} of ${scale.rounds}`);
    const stored = await storedBlocks(accelerator);
    const written = bytesToDisk(pid);
    await measure(fills(accelerator.gatewayPort, `write-${id}-${round}-`, count, bodyBytes), []);
    await accelerator.settled();
    const blocks = (await storedBlocks(accelerator)) - stored;
    values.push((bytesToDisk(pid) - written) / (blocks * bodyBytes));
  }
  return figureOf(
    {
      id,
      title: `bytes written for each byte admitted, blocks of ${bodyBytes >> 10} KiB`,
      unit: '×',
      target: '≤ 1.05',
    },
    values,
    { used: median(values) / 1.05 },
  );
}

/** Measures P6's parts. */
export async function measureFills(run: Run): Promise<FigureResult[]> {
  const objects = [`bench/hit-:${hitObjects}:${hitBytes}`];
  for (let round = 0; round < run.scale.rounds; round++) {
    for (const id of ['P6a', 'P6b'])
      objects.push(`bench/fill-${id}-${round}-:${fillObjects}:${fillBytes}`);
    objects.push(`bench/write-P6c-${round}-:4000:${fillBytes}`);
    objects.push(`bench/write-P6d-${round}-:4000:${smallFillBytes}`);
  }
  const origin = await startOrigin(delayMs, objects, besidePrefix);
  const accelerator = await startAccelerator({
    directory: join(run.directory, 'one'),
    originPort: origin.port,
    cacheGibibytes: 4,
    processes: 1,
  });
  try {
    run.progress.say('P6: everything is read once');
    const all = { ...hits(accelerator.gatewayPort, hitObjects, 32), sequential: true };
    await measure(all, []);
    await accelerator.settled();
    return [
      await tailFigure(run, accelerator, {
        id: 'P6a',
        parallel: connections,
        decides: true,
        originPort: origin.port,
      }),
      await tailFigure(run, accelerator, {
        id: 'P6b',
        parallel: 1,
        decides: false,
        originPort: origin.port,
      }),
      await amplificationFigure(run, accelerator, { id: 'P6c', bodyBytes: fillBytes }),
      await amplificationFigure(run, accelerator, { id: 'P6d', bodyBytes: smallFillBytes }),
    ];
  } finally {
    await accelerator.stop();
    await origin.stop();
  }
}
