/**
 * Everything about a run that is fixed before it begins, drawn from its seed.
 *
 * Each group has a stream of its own, and within a group new options draw last: so a new option leaves what old seeds draw
 * alone. Plain numbers and records, so that a failing run can be made smaller by changing one at a time.
 */
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { LayoutSizes } from '@s3-accelerator/core/layout.ts';

export interface ClusterOptions {
  readonly gateways: number;
  readonly nodes: number;
  readonly sizes: LayoutSizes;
  /** Bytes of each node's slab. */
  readonly storeBytes: number;
  readonly doorkeeperWindowMs: number;
  /** How far clocks of processes are apart, and how wrong they run, at most (a thousandth is 0.1 %). */
  readonly clockOffsetMs: number;
  readonly clockDrift: number;
  /** Each gateway shares its process with the node of the same number, if there is one. */
  readonly sharesProcesses: boolean;
  /** Of a hundred starts of a node, how many have half or twice the capacity. */
  readonly resizePercent: number;
}

export interface GatewayBounds {
  readonly maxReads: number;
  readonly smallAnswerBytes: number;
  readonly metadataEntries: number;
  readonly gatewayTtlMs: number;
  readonly maxRestarts: number;
  readonly readTimeoutMs: number;
  readonly maxWriteMarks: number;
  /** Read-ahead of one read, and the two bounds of all together. */
  readonly readAheadBlocks: number;
  readonly maxAheadReads: number;
  readonly maxAheadBlocks: number;
  readonly maxAttempts: number;
  readonly suspectMs: number;
}

export interface NodeBounds {
  readonly maxReaders: number;
  readonly maxFetches: number;
  readonly maxWrites: number;
  readonly fillBudgetBlocks: number;
  readonly readAheadSegments: number;
  readonly idleFetchMs: number;
  readonly metadataEntries: number;
  readonly maxVerifications: number;
  readonly scrubIntervalMs: number;
}

export interface BucketOptions {
  readonly name: string;
  readonly immutable: boolean;
  readonly ttlMs: number;
  readonly admitOnFirstRead: boolean;
}

export interface WorkloadOptions {
  /** Requests of clients, all told. */
  readonly requests: number;
  readonly clientsPerGateway: number;
  readonly keysPerBucket: number;
  /** How a client's pause between two requests is drawn: up to twice this. */
  readonly thinkMs: number;
  /** Of a hundred requests, how many write; of a hundred writes, how many come from elsewhere, past every gateway. */
  readonly writePercent: number;
  readonly behindPercent: number;
  /** Of a hundred reads, how many carry conditions, and how many ask for what the cache can't answer. */
  readonly conditionPercent: number;
  readonly passPercent: number;
  readonly headPercent: number;
  readonly rangePercent: number;
  /** Of a hundred objects, how many have a weak ETag, and how many are large. */
  readonly weakPercent: number;
  readonly largePercent: number;
  /** Of a hundred reads, how many a client leaves, and how many it stalls. */
  readonly leavePercent: number;
  readonly stallPercent: number;
  readonly stallMs: number;
}

export interface DelayOptions {
  /** Each is drawn up to twice the mean, now and then far more. */
  readonly networkMs: number;
  readonly originMs: number;
  readonly diskMs: number;
  readonly clientMs: number;
}

export interface FaultOptions {
  /** Of a hundred requests to S3. */
  readonly originPercent: number;
  /** Of a hundred writes at S3: answered with an error though made, or not answered at all. */
  readonly lostWritePercent: number;
  /** Mean time between events of a kind in the whole cluster; Infinity for never. */
  readonly linkResetMs: number;
  readonly partitionMs: number;
  readonly crashMs: number;
  readonly restartMs: number;
  readonly slowNodeMs: number;
  readonly gatewayRestartMs: number;
  /** How long partitions, slowness and being down last, up to twice this. */
  readonly lastingMs: number;
  /** Of a hundred operations of a disk: errors; and of a hundred crashes' unsynced sectors, how many are lost. */
  readonly diskWritePercent: number;
  readonly diskReadPercent: number;
  readonly lostSectorPercent: number;
  /** Of a hundred crashes, how many find bytes of a block damaged. */
  readonly rotPercent: number;
  /** Mean time between two cuts of some node's slab. */
  readonly cutMs: number;
}

export interface RunOptions {
  readonly seed: number;
  readonly cluster: ClusterOptions;
  readonly gateway: GatewayBounds;
  readonly node: NodeBounds;
  readonly buckets: readonly BucketOptions[];
  readonly workload: WorkloadOptions;
  readonly delays: DelayOptions;
  readonly faults: FaultOptions;
}

/** The stream of a source of randomness in the run with this seed. */
export function streamOf(seed: number, source: string): Prng {
  return new Prng(Math.floor(seed / 0x1_0000_0000) ^ 0x51, seed).stream(source);
}

/** The default run of a seed: at least 500 requests. Seeds are whole numbers from 0 to 2^53 - 1. */
export function optionsOf(seed: number): RunOptions {
  const cluster = clusterOf(streamOf(seed, 'options/cluster'));
  return {
    seed,
    cluster,
    gateway: gatewayOf(streamOf(seed, 'options/gateway'), cluster.sizes),
    node: nodeOf(streamOf(seed, 'options/node')),
    buckets: bucketsOf(streamOf(seed, 'options/buckets')),
    workload: workloadOf(streamOf(seed, 'options/workload')),
    delays: delaysOf(streamOf(seed, 'options/delays')),
    faults: faultsOf(streamOf(seed, 'options/faults')),
  };
}

function oneOf<T>(prng: Prng, choices: readonly T[]): T {
  return choices[prng.below(choices.length)]!;
}

function clusterOf(prng: Prng): ClusterOptions {
  const blockBytes = oneOf(prng, [4096, 4096, 8192, 16384]);
  const chunkBytes = blockBytes * oneOf(prng, [2, 3, 4]);
  return {
    gateways: oneOf(prng, [1, 1, 2, 3]),
    nodes: oneOf(prng, [1, 2, 3, 3, 4, 5]),
    sizes: {
      blockBytes,
      chunkBytes,
      tailBytes: chunkBytes * oneOf(prng, [1, 1, 2]),
      wholeBytes: chunkBytes * 2,
    },
    storeBytes: blockBytes * oneOf(prng, [8, 16, 32, 64]),
    doorkeeperWindowMs: oneOf(prng, [500, 600_000]),
    clockOffsetMs: oneOf(prng, [0, 1000, 1e9]),
    clockDrift: oneOf(prng, [0, 0.0001, 0.001]),
    sharesProcesses: prng.chance(0.4),
    resizePercent: oneOf(prng, [0, 0, 30]),
  };
}

function gatewayOf(prng: Prng, sizes: LayoutSizes): GatewayBounds {
  return {
    maxReads: oneOf(prng, [4, 64, 64]),
    smallAnswerBytes: oneOf(prng, [512, 2048, sizes.blockBytes]),
    metadataEntries: oneOf(prng, [1, 4, 1000]),
    gatewayTtlMs: oneOf(prng, [5, 100, 1000]),
    maxRestarts: oneOf(prng, [0, 1, 3]),
    readTimeoutMs: oneOf(prng, [100, 1000, 30_000]),
    maxWriteMarks: oneOf(prng, [2, 8, 1000]),
    readAheadBlocks: oneOf(prng, [1, 4, 16]),
    maxAheadReads: oneOf(prng, [0, 4, 64]),
    maxAheadBlocks: oneOf(prng, [0, 8, 256]),
    maxAttempts: oneOf(prng, [1, 3, 3]),
    suspectMs: oneOf(prng, [50, 500, 5000]),
  };
}

function nodeOf(prng: Prng): NodeBounds {
  return {
    maxReaders: oneOf(prng, [4, 64, 64]),
    maxFetches: oneOf(prng, [2, 6, 32]),
    maxWrites: oneOf(prng, [1, 4, 16]),
    fillBudgetBlocks: oneOf(prng, [1, 4, 32]),
    readAheadSegments: oneOf(prng, [1, 2, 4]),
    idleFetchMs: oneOf(prng, [20, 500, 5000]),
    metadataEntries: oneOf(prng, [1, 8, 1000]),
    maxVerifications: oneOf(prng, [1, 64]),
    scrubIntervalMs: oneOf(prng, [Infinity, Infinity, 20_000]),
  };
}

function bucketsOf(prng: Prng): BucketOptions[] {
  const quick = { immutable: false, ttlMs: oneOf(prng, [0, 20, 200]) };
  const slow = { immutable: false, ttlMs: oneOf(prng, [1000, 60_000]) };
  const fixed = { immutable: true, ttlMs: 60_000 };
  return [
    { name: 'quick', ...quick, admitOnFirstRead: prng.chance(0.5) },
    { name: 'slow', ...slow, admitOnFirstRead: prng.chance(0.5) },
    { name: 'fixed', ...fixed, admitOnFirstRead: prng.chance(0.5) },
  ];
}

function workloadOf(prng: Prng): WorkloadOptions {
  return {
    requests: 500 + prng.below(100),
    clientsPerGateway: oneOf(prng, [1, 4, 8]),
    keysPerBucket: oneOf(prng, [1, 3, 8]),
    thinkMs: oneOf(prng, [0, 5, 50]),
    writePercent: oneOf(prng, [2, 10, 30]),
    behindPercent: oneOf(prng, [0, 10, 50]),
    conditionPercent: oneOf(prng, [0, 10, 30]),
    passPercent: oneOf(prng, [0, 5]),
    headPercent: oneOf(prng, [0, 10]),
    rangePercent: oneOf(prng, [10, 50, 90]),
    weakPercent: oneOf(prng, [0, 0, 10]),
    largePercent: oneOf(prng, [5, 20]),
    leavePercent: oneOf(prng, [0, 5, 20]),
    stallPercent: oneOf(prng, [0, 5, 20]),
    stallMs: oneOf(prng, [20, 2000]),
  };
}

function delaysOf(prng: Prng): DelayOptions {
  return {
    networkMs: oneOf(prng, [0.1, 0.5, 5]),
    originMs: oneOf(prng, [1, 10, 50]),
    diskMs: oneOf(prng, [0.1, 1, 20]),
    clientMs: oneOf(prng, [0.1, 1, 10]),
  };
}

function faultsOf(prng: Prng): FaultOptions {
  const never = Infinity;
  return {
    originPercent: oneOf(prng, [0, 0, 5, 30]),
    lostWritePercent: oneOf(prng, [0, 0, 10, 30]),
    linkResetMs: oneOf(prng, [never, never, 500, 100]),
    partitionMs: oneOf(prng, [never, never, 2000]),
    crashMs: oneOf(prng, [never, never, 2000, 500]),
    restartMs: oneOf(prng, [never, never, 2000]),
    slowNodeMs: oneOf(prng, [never, 1000]),
    gatewayRestartMs: oneOf(prng, [never, never, 2000]),
    lastingMs: oneOf(prng, [50, 500]),
    diskWritePercent: oneOf(prng, [0, 0, 5, 20]),
    diskReadPercent: oneOf(prng, [0, 0, 2]),
    lostSectorPercent: oneOf(prng, [0, 50, 100]),
    rotPercent: oneOf(prng, [0, 0, 50]),
    cutMs: oneOf(prng, [never, never, never, 2000]),
  };
}
