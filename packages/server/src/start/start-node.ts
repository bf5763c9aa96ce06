/** Puts a storage node together: files, store, core, S3 client, and the links that others ask it over. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hash128, U64 } from '@s3-accelerator/core/base/hash.ts';
import { Layout } from '@s3-accelerator/core/layout.ts';
import { defaultNodeLimits, type NodeLimits } from '@s3-accelerator/core/node/limits.ts';
import type { Node } from '@s3-accelerator/core/node/node.ts';
import { alignedMemory } from '@s3-accelerator/native/files.ts';
import { knockAt } from '../cluster/first-contact.ts';
import { joinCluster } from '../cluster/membership.ts';
import type { Address } from '../config/address.ts';
import type { CacheConfig, ClusterConfig, Config, NodeConfig } from '../config/config.ts';
import type { DataDirectory } from '../disk/data-directory.ts';
import type { DiskFiles, ReadableSlab } from '../disk/disk-files.ts';
import { errnoName } from '../disk/errno.ts';
import { LocalFiles } from '../disk/local-files.ts';
import { LogFile } from '../disk/log-file.ts';
import { openStore, type OpenedStore } from '../disk/open-store.ts';
import { readMetadataLog } from '../disk/read-log.ts';
import { StartProgress } from '../disk/start-progress.ts';
import type { Gossip } from '../gossip/gossip.ts';
import type { Log } from '../log.ts';
import type { Figures } from '../metrics/figures.ts';
import {
  publishJournal,
  publishNode,
  publishOrigin,
  publishRestored,
  publishStore,
  publishVerification,
} from '../metrics/publish.ts';
import { NodeDriver } from '../node/node-driver.ts';
import { ObjectHash } from '../object-hash.ts';
import type { ForwardPort } from '../passthrough/forward.ts';
import { defaultLinkServerOptions } from '../peers/link-options.ts';
import { BucketSettings } from './bucket-settings.ts';
import { linkKey } from './link-key.ts';
import { startNodeLinks } from './node-links.ts';
import { NodeOrigins } from './node-origins.ts';
import { startNodePeers } from './node-peers.ts';
import { connectToS3 } from './node-s3.ts';
import type { ProcessContext } from './process-context.ts';

/** A storage node that serves. */
export interface RunningNode {
  readonly nodeId: number;
  readonly driver: NodeDriver;
  readonly slab: ReadableSlab;
  /** Where it listens for links; null when it doesn't. */
  readonly linksAt: Address | null;
  /** The way to S3 for requests that aren't reads. */
  readonly forward: ForwardPort;
  /** null when it has its place in the cluster, else why not. */
  notReady(): string | null;
  /** Buckets point elsewhere, or are cached otherwise: what was told of objects before counts no more. */
  onBucketsChanged(listener: () => void): void;
  tick(): void;
  reload(config: Config): void;
  /** Gives up its place in the ring; it goes on serving what it holds. */
  leave(): void;
  stop(): Promise<void>;
}

/** How long links may take to finish what is under way once the process is asked to stop. */
const drainMs = 20_000;
/** How long a stopping node waits for its disk, and how often it looks. */
const flushMs = 5000;
const flushTickMs = 5;

const randomSeed = (): U64 => {
  const bytes = randomBytes(8);
  return { hi: bytes.readUInt32LE(0), lo: bytes.readUInt32LE(4) };
};

/** What the data directory holds. */
async function openedStore(
  { config: { cache }, log, signal }: ProcessContext,
  { dataDir }: NodeConfig,
  blockBytes: number,
): Promise<OpenedStore> {
  const { capacityBytes, doorkeeperWindowMs } = cache;
  const options = { capacityBytes, blockBytes, doorkeeperWindowMs, seed: randomSeed() };
  const opened = await openStore(dataDir, options, log, signal);
  if (!opened.directory.lendsPages) {
    log.warn(
      { dataDir },
      "this file system can't lend pages to sockets safely: answers are copied, which costs CPU time; ext4 and XFS can",
    );
  }
  return opened;
}

function limitsOf(
  { maxReaders, maxFetches, scrubIntervalS }: NodeConfig,
  cache: CacheConfig,
  fallbackWindowS: number,
): NodeLimits {
  const { fillBudgetBytes, metadataEntries, metadataBytes } = cache;
  const { hotThreshold, hotReplicas, leaseMs } = cache;
  return {
    ...defaultNodeLimits,
    maxReaders,
    maxFetches,
    maxWrites: Math.max(1, maxFetches >> 1),
    fillBudgetBytes,
    metadataEntries,
    metadataBytes,
    hotThreshold,
    hotReplicas,
    leaseMs,
    fallbackWindowMs: fallbackWindowS * 1000,
    scrubIntervalMs: scrubIntervalS === 0 ? Infinity : scrubIntervalS * 1000,
  };
}

/** What gives back what a node has taken so far. */
type Releases = (() => Promise<void> | void)[];

/** The last one first. */
async function release(releases: Releases): Promise<void> {
  for (const one of releases.splice(0).toReversed()) await one();
}

/**
 * `inner`: for links of further loops of this process, where it is a cluster of its own (inner-links.ts). Rejects when it can't start, or
 * is asked to stop before it has: nothing is left of it then.
 */
export async function startNode(
  context: ProcessContext,
  node: NodeConfig,
  inner: ClusterConfig | null,
): Promise<RunningNode> {
  const releases: Releases = [];
  try {
    return await begin(context, node, inner, releases);
  } catch (error) {
    await release(releases);
    throw error;
  }
}

async function begin(
  context: ProcessContext,
  node: NodeConfig,
  inner: ClusterConfig | null,
  releases: Releases,
): Promise<RunningNode> {
  const { config, reactor, ring, log, faults, metrics, now, signal } = context;
  const { cache } = config;
  const layout = new Layout();
  const origins = new NodeOrigins(config, faults);
  releases.push(() => origins.stop());
  await origins.prepare(signal);
  const buckets = new BucketSettings(origins, cache);

  const opened = await openedStore(context, node, layout.blockBytes);
  const { store, directory, header } = opened;
  const files = await openFiles(context, node, directory);
  releases.push(() => files.close());
  const driver = new NodeDriver({
    reactor,
    files,
    store,
    table: header,
    fillMemory: alignedMemory(cache.fillBudgetBytes),
    nodeId: node.id,
    ring: ring.current,
    layout,
    limits: limitsOf(node, cache, config.cluster?.fallbackWindowS ?? 0),
    policyOf: (bucket) => buckets.policyOf(bucket),
    digest: new ObjectHash(origins),
    seed: randomSeed(),
    now,
    faults,
  });
  const knownObjects = await restoreMetadata(driver.node, node.dataDir, header.cacheId, context);
  // Not before: a log that was read in part isn't all that there is to keep.
  releases.push(() => endRun(driver, log));
  const { client, forward } = connectToS3(faults, origins, driver);
  releases.push(() => client.close());
  const peers = startNodePeers(context, node, driver);
  releases.push(() => {
    peers.close();
  });
  const links = startNodeLinks({ ...context, inner }, node, {
    slab: files,
    driver,
    forward,
    buckets,
  });
  releases.push(() => links?.server.close());
  const gossip = links === null ? null : await startGossip(context, node, links.at);

  publishFigures(metrics, driver.node, opened, knownObjects);
  publishOrigin(metrics, client.counters);

  return {
    nodeId: node.id,
    driver,
    slab: files,
    linksAt: links?.at ?? null,
    forward,
    notReady: () => {
      if (ring.version === 0) return 'joining the cluster';
      if (ring.current.member(node.id) === null) return 'not in the ring (any more)';
      return origins.notReady();
    },
    tick: () => {
      driver.tick();
    },
    leave: () => {
      gossip?.leave();
    },
    onBucketsChanged: (listener) => {
      buckets.onChange(listener);
    },
    reload: (wanted) => {
      origins.reload(wanted);
      buckets.reload(wanted.cache);
    },
    stop: async () => {
      // Nobody has to find out that it is gone; what is under way is finished all the same.
      await gossip?.stop();
      await links?.server.drain(drainMs);
      await release(releases);
    },
  };
}

async function openFiles(
  { reactor, wrapFiles }: ProcessContext,
  { dataDir }: NodeConfig,
  directory: DataDirectory,
): Promise<DiskFiles> {
  try {
    const logFile = await LogFile.open(dataDir);
    return wrapFiles(new LocalFiles(directory, logFile, reactor), dataDir);
  } catch (error) {
    directory.close();
    throw error;
  }
}

/** Reads what earlier runs knew of objects; returns of how many. */
async function restoreMetadata(
  node: Node,
  dataDir: string,
  cacheId: Readonly<Hash128>,
  { log, signal }: ProcessContext,
): Promise<number> {
  const progress = new StartProgress((percent) => {
    log.info({ percent }, 'reading the metadata log');
  }, signal);
  const known = await readMetadataLog(dataDir, cacheId, node.metadataLog, progress);
  if (known.entries > 0) log.info(known, 'metadata of earlier runs is back');
  return known.entries;
}

function publishFigures(
  metrics: Figures,
  node: Node,
  { store, recovered }: OpenedStore,
  knownObjects: number,
): void {
  publishNode(metrics, node);
  publishJournal(metrics, node.journal);
  publishVerification(metrics, node.verification.counters);
  publishRestored(metrics, {
    blocks: recovered.restored,
    trustedBlocks: recovered.trusted,
    refusedRows: recovered.damaged + recovered.outside + recovered.contradictory,
    objects: knownObjects,
  });
  publishStore(metrics, store.counters);
  metrics.readFrom('s3accel_node_capacity_bytes', () => store.capacityBytes);
}

/** Makes what is stored durable and marks the run as ended clean, unless that takes too long. */
async function endRun(driver: NodeDriver, log: Log): Promise<void> {
  driver.shutdown();
  const deadline = performance.now() + flushMs;
  while (!driver.isFlushed) {
    if (performance.now() > deadline) {
      log.warn('the disk takes too long: the next start verifies what is stored');
      return;
    }
    await sleep(flushTickMs);
    driver.tick();
  }
  const errno = await new Promise<number>((resolve) => {
    driver.endRun(resolve);
  });
  if (errno === 0) return;
  log.warn({ errno: errnoName(errno) }, 'the next start verifies what is stored');
}

async function startGossip(
  context: ProcessContext,
  node: NodeConfig,
  listen: Address,
): Promise<Gossip | null> {
  const { reactor, faults, config } = context;
  const { cluster } = config;
  if (cluster === undefined) return null;
  const { secret, tcp } = cluster;
  const { handshakeMs } = defaultLinkServerOptions;
  const foundNobody = (others: readonly Address[]): void => {
    knockAt(others, reactor, { ...tcp, handshakeMs, secret: linkKey(secret) }, faults);
  };
  return joinCluster({ ...context, cluster, node, listen, foundNobody });
}
