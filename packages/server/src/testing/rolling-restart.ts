/**
 * A rolling restart under load: three nodes are stopped and started again, one after the other, while a hot set is read and other objects
 * are written and read back, all at a steady pace.
 *
 * What S3 was asked for of the hot set is counted apart for two kinds of moments: while a node is away, when whoever stands in for it has
 * no other source, and while all are there, when the hot set has to be as warm as ever.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StepResult } from '@s3-accelerator/load/result/result.ts';
import { GeneratedLoad } from './generated-load.ts';
import { agreedRing, NodeCluster, type ClusterProcess } from './node-cluster.ts';

export interface RollingRestartOptions {
  readonly hotObjects: number;
  readonly readsPerSecond: number;
  readonly writesPerSecond: number;
  /** How often each node is restarted. */
  readonly rounds: number;
  /** Between two restarts, and at the ends. */
  readonly restMs: number;
}

export interface RollingRestart {
  readonly reads: StepResult;
  readonly writes: StepResult;
  readonly hotBytes: number;
  /** Of the hot set, from S3. */
  readonly bytesWhileAway: number;
  readonly bytesWhileThere: number;
  /** How long each node was away, in ms: from the signal until it said that it is ready. */
  readonly awayMs: readonly number[];
}

const ids = [0, 1, 2];
const sizes =
  '[{ bytes = "4KiB", weight = 6 }, { bytes = "64KiB", weight = 3 }, { from = "128KiB", to = "2MiB", weight = 1 }]';

/** @throws when a process ends otherwise than well, or a load meets a wrong answer. Failed requests are in the results. */
export async function rollingRestart(options: RollingRestartOptions): Promise<RollingRestart> {
  const cluster = await NodeCluster.begin({
    buckets: ['hot', 'written'],
    policy: 'ttl_ms = 5000\nadmit_on_first_read = true',
    capacity: '1GiB',
  });
  try {
    return await restartAll(cluster, options);
  } finally {
    await cluster.stop();
  }
}

/** Its figures in one line. */
export function describeRestart(restart: RollingRestart): string {
  const { reads, writes, hotBytes, bytesWhileAway, bytesWhileThere, awayMs } = restart;
  const percent = (bytes: number): string => `${((bytes / hotBytes) * 100).toFixed(2)}%`;
  const [gets] = reads.operations;
  return [
    `${Math.round(reads.requestsPerSecond)} reads and ${Math.round(writes.requestsPerSecond)} writes and reads a second`,
    `first byte p50 ${gets?.firstByte.p50Us ?? 0} µs, p99 ${gets?.firstByte.p99Us ?? 0} µs`,
    `nodes away for ${awayMs.join(', ')} ms`,
    `of the hot set (${(hotBytes / 1e6).toFixed(0)} MB) from S3: ${percent(bytesWhileThere)} while all were there`,
    `${percent(bytesWhileAway)} while one was away`,
  ].join('; ');
}

async function restartAll(
  cluster: NodeCluster,
  options: RollingRestartOptions,
): Promise<RollingRestart> {
  const { rounds, restMs } = options;
  const { directory, s3 } = cluster;
  const start = (id: number): Promise<ClusterProcess> => cluster.startNode(id, { names: ids });
  const nodes = await Promise.all(ids.map(start));
  const { gateway, client } = await cluster.startGateway({ names: ids });
  const ring = await agreedRing([...nodes, gateway], ids.length);

  const common = { directory, sizes, verify: 'edges' } as const;
  const hot = new GeneratedLoad({
    ...common,
    name: 'hot',
    bucket: 'hot',
    objects: options.hotObjects,
    operations: '{ get = 1 }',
    requestsPerSecond: options.readsPerSecond,
    connections: 32,
  });
  const written = new GeneratedLoad({
    ...common,
    name: 'written',
    bucket: 'written',
    objects: 200,
    operations: '{ put = 1, get = 1 }',
    requestsPerSecond: 2 * options.writesPerSecond,
    connections: 16,
  });
  await Promise.all([hot.seed(s3.port), written.seed(s3.port)]);
  s3.traffic.clear();
  await hot.warm(client.port, 1);
  const hotBytes = s3.traffic.sent('GetObject');
  await hot.warm(client.port, 1);
  s3.traffic.clear();

  /** Bytes of the hot set that S3 has sent since the last call. */
  const fromS3 = (): number => {
    const sent = s3.traffic.log.filter(({ bucket }) => bucket === 'hot');
    s3.traffic.clear();
    return sent.reduce((sum, { bytesSent }) => sum + bytesSent, 0);
  };
  let bytesWhileAway = 0;
  let bytesWhileThere = 0;
  const awayMs: number[] = [];
  hot.start(client.port);
  written.start(client.port);
  await sleep(restMs);
  for (let round = 0; round < rounds; round++) {
    for (const id of ids) {
      bytesWhileThere += fromS3();
      const began = performance.now();
      assert.equal(await nodes[id]!.end('SIGTERM'), 0, nodes[id]!.log());
      nodes[id] = await start(id);
      awayMs.push(Math.round(performance.now() - began));
      await isReadAgain(nodes[id]);
      bytesWhileAway += fromS3();
      await sleep(restMs);
    }
  }
  bytesWhileThere += fromS3();
  const [reads, writes] = await Promise.all([hot.stop(), written.stop()]);
  assert.equal(await agreedRing([...nodes, gateway], ids.length), ring, 'no key has moved');
  return { reads, writes, hotBytes, bytesWhileAway, bytesWhileThere, awayMs };
}

/** The gateway tries a node that was away within a second; from then on its reads are its own again. */
async function isReadAgain(node: ClusterProcess): Promise<void> {
  for (let at = 0; at < 100; at++) {
    if ((await node.metric('s3accel_node_block_reads_total')) > 0) return;
    await sleep(50);
  }
  assert.fail(`nobody reads from the node that is back:\n${node.log()}`);
}
