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
  /** Nodes that may be added while the cluster runs. */
  readonly spareNodes: number;
  /** How often a node probes another, which gives membership its pace, and how long one that is down keeps its place. */
  readonly probeMs: number;
  readonly graceMs: number;
  /** Event loops of each gateway's process. */
  readonly loops: number;
}

export interface GatewayBounds {
  readonly maxReads: number;
  readonly smallAnswerBytes: number;
  readonly metadataEntries: number;
  readonly gatewayTtlMs: number;
  readonly maxRestarts: number;
  readonly readTimeoutMs: number;
  /** Slots that objects share when they are written: with few, many are confirmed for a write of another. A power of two. */
  readonly writeSlots: number;
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
  /** How long after a ring change previous owners are asked, and how long a node that leaves hands over. */
  readonly fallbackWindowMs: number;
  readonly peerFetchTimeoutMs: number;
  readonly peerRestMs: number;
  readonly standInMs: number;
  /** Reads in a second that make a placement hot, to how many nodes it is lent, and for how long. */
  readonly hotThreshold: number;
  readonly hotReplicas: number;
  readonly leaseMs: number;
  readonly maxLeases: number;
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
  /** Of a hundred messages, how many take a fifth of a second more. */
  readonly lateMessagePercent: number;
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
  /** Mean time between two nodes that are added, that leave, that are lost for good, and between two partitions among nodes. */
  readonly addMs: number;
  readonly leaveMs: number;
  readonly lossMs: number;
  readonly nodePartitionMs: number;
  /** Of a hundred datagrams of gossip. */
  readonly datagramLostPercent: number;
  readonly datagramTwicePercent: number;
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

function clusterOf(prng: Prng): ClusterOptions {
  const blockBytes = prng.pick([4096, 4096, 8192, 16384]);
  const chunkBytes = blockBytes * prng.pick([2, 3, 4]);
  return {
    gateways: prng.pick([1, 1, 2, 3]),
    nodes: prng.pick([1, 2, 3, 3, 4, 5]),
    sizes: {
      blockBytes,
      chunkBytes,
      tailBytes: chunkBytes * prng.pick([1, 1, 2]),
      wholeBytes: chunkBytes * 2,
    },
    storeBytes: blockBytes * prng.pick([8, 16, 32, 64]),
    doorkeeperWindowMs: prng.pick([500, 600_000]),
    clockOffsetMs: prng.pick([0, 1000, 1e9]),
    clockDrift: prng.pick([0, 0.0001, 0.001]),
    sharesProcesses: prng.chance(0.4),
    resizePercent: prng.pick([0, 0, 30]),
    spareNodes: prng.pick([0, 1, 3]),
    probeMs: prng.pick([100, 300, 1000]),
    graceMs: prng.pick([300, 2000, 8000]),
    loops: prng.pick([1, 1, 2]),
  };
}

function gatewayOf(prng: Prng, sizes: LayoutSizes): GatewayBounds {
  return {
    maxReads: prng.pick([4, 64, 64]),
    smallAnswerBytes: prng.pick([512, 2048, sizes.blockBytes]),
    metadataEntries: prng.pick([1, 4, 1000]),
    gatewayTtlMs: prng.pick([5, 100, 1000]),
    maxRestarts: prng.pick([0, 1, 3]),
    readTimeoutMs: prng.pick([100, 1000, 30_000]),
    writeSlots: prng.pick([2, 8, 1024]),
    readAheadBlocks: prng.pick([1, 4, 16]),
    maxAheadReads: prng.pick([0, 4, 64]),
    maxAheadBlocks: prng.pick([0, 8, 256]),
    maxAttempts: prng.pick([1, 3, 3]),
    suspectMs: prng.pick([50, 500, 5000]),
  };
}

function nodeOf(prng: Prng): NodeBounds {
  return {
    maxReaders: prng.pick([4, 64, 64]),
    maxFetches: prng.pick([2, 6, 32]),
    maxWrites: prng.pick([1, 4, 16]),
    fillBudgetBlocks: prng.pick([1, 4, 32]),
    readAheadSegments: prng.pick([1, 2, 4]),
    idleFetchMs: prng.pick([20, 500, 5000]),
    metadataEntries: prng.pick([1, 8, 1000]),
    maxVerifications: prng.pick([1, 64]),
    scrubIntervalMs: prng.pick([Infinity, Infinity, 20_000]),
    fallbackWindowMs: prng.pick([3000, 20_000, 600_000]),
    peerFetchTimeoutMs: prng.pick([50, 500]),
    peerRestMs: prng.pick([500, 10_000]),
    standInMs: prng.pick([1000, 60_000]),
    hotThreshold: prng.pick([3, 10, Infinity]),
    hotReplicas: prng.pick([1, 2]),
    leaseMs: prng.pick([100, 500, 3000]),
    maxLeases: prng.pick([1, 1024]),
  };
}

function bucketsOf(prng: Prng): BucketOptions[] {
  const quick = { immutable: false, ttlMs: prng.pick([0, 20, 200]) };
  const slow = { immutable: false, ttlMs: prng.pick([1000, 60_000]) };
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
    clientsPerGateway: prng.pick([1, 4, 8]),
    keysPerBucket: prng.pick([1, 3, 8]),
    thinkMs: prng.pick([0, 5, 50]),
    writePercent: prng.pick([2, 10, 30]),
    behindPercent: prng.pick([0, 10, 50]),
    conditionPercent: prng.pick([0, 10, 30]),
    passPercent: prng.pick([0, 5]),
    headPercent: prng.pick([0, 10]),
    rangePercent: prng.pick([10, 50, 90]),
    weakPercent: prng.pick([0, 0, 10]),
    largePercent: prng.pick([5, 20]),
    leavePercent: prng.pick([0, 5, 20]),
    stallPercent: prng.pick([0, 5, 20]),
    stallMs: prng.pick([20, 2000]),
  };
}

function delaysOf(prng: Prng): DelayOptions {
  return {
    networkMs: prng.pick([0.1, 0.5, 5]),
    originMs: prng.pick([1, 10, 50]),
    diskMs: prng.pick([0.1, 1, 20]),
    clientMs: prng.pick([0.1, 1, 10]),
    lateMessagePercent: 1,
  };
}

function faultsOf(prng: Prng): FaultOptions {
  const never = Infinity;
  return {
    originPercent: prng.pick([0, 0, 5, 30]),
    lostWritePercent: prng.pick([0, 0, 10, 30]),
    linkResetMs: prng.pick([never, never, 500, 100]),
    partitionMs: prng.pick([never, never, 2000]),
    crashMs: prng.pick([never, never, 2000, 500]),
    restartMs: prng.pick([never, never, 2000]),
    slowNodeMs: prng.pick([never, 1000]),
    gatewayRestartMs: prng.pick([never, never, 2000]),
    lastingMs: prng.pick([50, 500]),
    diskWritePercent: prng.pick([0, 0, 5, 20]),
    diskReadPercent: prng.pick([0, 0, 2]),
    lostSectorPercent: prng.pick([0, 50, 100]),
    rotPercent: prng.pick([0, 0, 50]),
    cutMs: prng.pick([never, never, never, 2000]),
    addMs: prng.pick([never, 1000]),
    leaveMs: prng.pick([never, never, 1000]),
    lossMs: prng.pick([never, never, never, 2000]),
    nodePartitionMs: prng.pick([never, never, 1000]),
    datagramLostPercent: prng.pick([0, 0, 5, 30]),
    datagramTwicePercent: prng.pick([0, 0, 10]),
  };
}
