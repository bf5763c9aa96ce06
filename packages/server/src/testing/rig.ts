/** A whole arrangement for a test: memory-s3 in the test's process, the program in one process or two, and a client. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMemoryS3, type MemoryS3 } from '@s3-accelerator/memory-s3/memory-s3.ts';
import { credentials, startCluster, type Cluster, type ClusterOptions } from './programs.ts';
import { S3Client } from './s3-client.ts';

export interface Rig {
  readonly s3: MemoryS3;
  readonly cluster: Cluster;
  /** Through the gateway, with the credential that may do everything unless the rig has other clients. */
  readonly client: S3Client;
  /** Straight to memory-s3. */
  readonly direct: S3Client;
  stop(): Promise<void>;
}

export async function startRig(
  options: Omit<ClusterOptions, 'originPort'> & { readonly buckets?: readonly string[] },
): Promise<Rig> {
  const s3 = await startMemoryS3({ buckets: options.buckets ?? ['bucket'] });
  try {
    const cluster = await startCluster({ ...options, originPort: s3.port });
    return {
      s3,
      cluster,
      client: new S3Client(cluster.gatewayPort, credentials),
      direct: new S3Client(s3.port, credentials),
      stop: async () => {
        await cluster.stop();
        await s3.close();
      },
    };
  } catch (error) {
    await s3.close();
    throw error;
  }
}

/** Waits until something holds. `what` names it in the error. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 20_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) assert.fail(`${what}: not within ${withinMs} ms`);
    await sleep(20);
  }
}

const gauges = [
  ['gateway', 's3accel_gateway_reads_in_flight'],
  ['gateway', 's3accel_gateway_connections'],
  ['gateway', 's3accel_reactor_queued_bytes'],
  ['node', 's3accel_reactor_queued_bytes'],
  ['node', 's3accel_node_fetches_in_flight'],
  ['node', 's3accel_node_fill_bytes'],
  ['node', 's3accel_node_slots_pinned'],
  ['node', 's3accel_node_slots_reserved'],
  ['node', 's3accel_s3_requests_in_flight'],
] as const;

/** Asserts that nothing stays in use once all clients are gone. */
export async function assertNothingInUse(cluster: Cluster): Promise<void> {
  let left: string[] = [];
  const isQuiet = async (): Promise<boolean> => {
    left = [];
    for (const [of, name] of gauges) {
      // A gauge that nobody publishes would look like nothing in use.
      assert.match(await cluster.metrics(of), new RegExp(`^${name} `, 'm'));
      const value = await cluster.metric(of, name);
      if (value !== 0) left.push(`${name} = ${value}`);
    }
    return left.length === 0;
  };
  const deadline = performance.now() + 20_000;
  while (!(await isQuiet())) {
    if (performance.now() > deadline) assert.fail(`still in use: ${left.join(', ')}`);
    await sleep(50);
  }
}

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const pages = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1];
  return Number(pages) * 4096;
}

/** Runs a test's body against one process, then against two, and names which one failed. */
export const arrangements = [
  { name: 'one process', processes: 1 },
  { name: 'two processes', processes: 2 },
] as const;
