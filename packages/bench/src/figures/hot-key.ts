/**
 * P11: one hot 4 KiB key on three nodes, each held to a tenth of a processor by a control group: what they answer together against
 * what one answers, and how evenly they share it. Nodes are so slow here that one alone would be the bottleneck, as a node is
 * when a whole fleet asks for one key.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAccelerator, type Accelerator } from '../accelerator/accelerator.ts';
import { startOrigin } from '../accelerator/origin.ts';
import { figureOf, type FigureResult } from '../figure.ts';
import { median } from '../load/percentiles.ts';
import { limitCpu, type CpuQuota } from '../machine/cpu-quota.ts';
import { measure } from '../measure.ts';
import type { Run } from '../run.ts';
import { jobOf, prime, synthetic, wholes } from './jobs.ts';

const share = 0.1;
const hotKey = wholes('tiny', 1);

interface HotKeyRounds {
  /** Requests a second. */
  readonly rates: number[];
  /** The busiest node's share of all reads of nodes, in percent. */
  readonly largestShares: number[];
}

export async function measureHotKey(run: Run): Promise<FigureResult[]> {
  const origin = await startOrigin(0, [synthetic('tiny', 1)]);
  try {
    const one = await throttled(run, origin.port, 1);
    const three = await throttled(run, origin.port, 3);
    const ratio = median(three.rates) / median(one.rates);
    const largest = median(three.largestShares);
    return [
      figureOf(
        {
          id: 'P11a',
          title: 'one hot 4 KiB key on three nodes at a tenth of a processor each',
          unit: 'requests/s',
          target: '≥ 2 × one node’s',
        },
        three.rates,
        {
          peer: median(one.rates),
          peerName: 'one such node',
          ratio,
          used: 2 / ratio,
        },
      ),
      figureOf(
        {
          id: 'P11b',
          title: 'the same: reads of the busiest node',
          unit: '%',
          target: '≤ 45% of all',
        },
        three.largestShares,
        { used: largest / 45 },
      ),
    ];
  } finally {
    await origin.stop();
  }
}

async function throttled(run: Run, originPort: number, nodes: number): Promise<HotKeyRounds> {
  const { scale, progress } = run;
  const ours = await startAccelerator({
    directory: join(run.directory, `nodes-${nodes}`),
    originPort,
    cacheGibibytes: 1,
    processes: 2,
    nodes,
    isFree: true,
  });
  const quotas: CpuQuota[] = [];
  try {
    await prime(ours.gatewayPort, hotKey);
    await ours.settled();
    for (const { pid } of ours.nodes) quotas.push(limitCpu(pid, share));
    const job = jobOf(ours.gatewayPort, hotKey, scale.requests);
    progress.say(`P11: ${nodes} throttled node${nodes === 1 ? '' : 's'}, warm-up`);
    await measure(job, []);
    await sleep(1000);
    const result: HotKeyRounds = { rates: [], largestShares: [] };
    for (let round = 0; round < scale.rounds; round++) {
      progress.say(`P11: round ${round + 1} of ${scale.rounds}`);
      const before = await readsOf(ours);
      result.rates.push((await measure(job, [])).requestsPerSecond);
      const reads = (await readsOf(ours)).map((count, node) => count - (before[node] ?? 0));
      const all = reads.reduce((sum, count) => sum + count, 0);
      result.largestShares.push((100 * Math.max(...reads)) / all);
    }
    return result;
  } finally {
    for (const quota of quotas) quota.remove();
    await ours.stop();
  }
}

const readsOf = (ours: Accelerator): Promise<number[]> =>
  Promise.all(ours.nodes.map((node) => ours.metric(node, 's3accel_node_block_reads_total')));
