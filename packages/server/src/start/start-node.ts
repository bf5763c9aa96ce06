/** Puts a storage node together: slab, store, core, S3 client, and the links that others ask it over. */
import { randomBytes } from 'node:crypto';
import type { U64 } from '@s3-accelerator/core/base/hash.ts';
import { Layout } from '@s3-accelerator/core/layout.ts';
import { defaultNodeLimits, type NodeLimits } from '@s3-accelerator/core/node/limits.ts';
import type { BucketPolicy } from '@s3-accelerator/core/node/policy.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import { Store } from '@s3-accelerator/core/store/store.ts';
import { alignedMemory } from '@s3-accelerator/native/files.ts';
import type { Reactor } from '@s3-accelerator/native/reactor.ts';
import type { CacheConfig, Config, NodeConfig } from '../config/config.ts';
import type { WrapFiles } from '../disk/disk-files.ts';
import { Slab } from '../disk/slab.ts';
import type { FaultLog, Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { publishLimit, publishNode, publishOrigin, publishStore } from '../metrics/publish.ts';
import { LinkAnswers } from '../node/link-answers.ts';
import { NodeDriver } from '../node/node-driver.ts';
import { LinkReads } from '../node/link-reads.ts';
import { WriteNotice } from '../node/write-notice.ts';
import { ObjectHash } from '../object-hash.ts';
import { Fetcher } from '../origin/fetcher.ts';
import { OriginClient } from '../origin/origin-client.ts';
import type { OriginFailure } from '../origin/origin-failure.ts';
import type { ForwardPort } from '../passthrough/forward.ts';
import { OriginForward } from '../passthrough/origin-forward.ts';
import { defaultLinkServerOptions } from '../peers/link-options.ts';
import { LinkServer } from '../peers/link-server.ts';
import { linkKey } from './link-key.ts';
import { originsOf } from './origins-of.ts';

/** What the parts of one process share. */
export interface ProcessContext {
  readonly config: Config;
  readonly reactor: Reactor;
  readonly ring: Ring;
  readonly log: Log;
  readonly faults: FaultLog;
  readonly metrics: Metrics;
  /** Milliseconds from a monotonic clock. */
  readonly now: () => number;
  readonly wrapFiles: WrapFiles;
}

/** A storage node that serves. */
export interface RunningNode {
  readonly nodeId: number;
  readonly driver: NodeDriver;
  readonly slab: Slab;
  /** The way to S3 for requests that aren't reads. */
  readonly forward: ForwardPort;
  tick(): void;
  reload(config: Config): void;
  stop(): Promise<void>;
}

const randomSeed = (): U64 => {
  const bytes = randomBytes(8);
  return { hi: bytes.readUInt32LE(0), lo: bytes.readUInt32LE(4) };
};

function policies(cache: CacheConfig): (bucket: string) => BucketPolicy {
  return (bucket) => cache.buckets.get(bucket) ?? cache.defaultPolicy;
}

/** The bookkeeping of the slab, and the file of the size that it asks for. */
function openStore(
  { config: { cache }, log }: ProcessContext,
  { dataDir }: NodeConfig,
  blockBytes: number,
): { store: Store; slab: Slab } {
  const store = new Store({
    capacityBytes: cache.capacityBytes,
    blockBytes,
    doorkeeperWindowMs: cache.doorkeeperWindowMs,
    seed: randomSeed(),
  });
  log.info({ bytes: store.slabBytes, directory: dataDir }, 'preparing the slab');
  const slab = Slab.open(dataDir, store.slabBytes);
  if (!slab.lendsPages) {
    log.warn(
      { dataDir },
      "this file system can't lend pages to sockets safely: answers are copied, which costs CPU time; ext4 and XFS can",
    );
  }
  return { store, slab };
}

function limitsOf({ maxReaders, maxFetches }: NodeConfig, cache: CacheConfig): NodeLimits {
  const { fillBudgetBytes, metadataEntries, metadataBytes } = cache;
  return {
    ...defaultNodeLimits,
    maxReaders,
    maxFetches,
    maxWrites: Math.max(1, maxFetches >> 1),
    fillBudgetBytes,
    metadataEntries,
    metadataBytes,
  };
}

export function startNode(context: ProcessContext, node: NodeConfig): RunningNode {
  const { config, reactor, ring, faults, metrics, now } = context;
  const { cache } = config;
  const layout = new Layout();
  let origins = originsOf(config);
  let policyOf = policies(cache);

  const { store, slab } = openStore(context, node, layout.blockBytes);
  const driver = new NodeDriver({
    reactor,
    slab,
    store,
    fillMemory: alignedMemory(cache.fillBudgetBytes),
    nodeId: node.id,
    ring,
    layout,
    limits: limitsOf(node, cache),
    policyOf: (bucket) => policyOf(bucket),
    digest: new ObjectHash((bucket) => origins.identity(bucket)),
    seed: randomSeed(),
    now,
    faults,
  });

  const originFault = (failure: OriginFailure, bucket: string): void => {
    const { code, hint } = failure;
    faults.warn(`origin-${code}-${bucket}`, 'the origin gave no whole answer', {
      bucket,
      code,
      hint,
    });
  };
  const client = new OriginClient();
  const fetcher = new Fetcher(client, () => origins, driver, originFault);
  driver.fetcher = fetcher;
  const toOrigin = new OriginForward(
    client,
    () => origins,
    (failure, { bucket }) => {
      originFault(failure, bucket);
    },
  );
  const forward = new WriteNotice(toOrigin, driver);
  const links = startLinks(context, node, slab, driver, forward);

  publishNode(metrics, driver.node);
  publishStore(metrics, store.counters);
  publishOrigin(metrics, client.counters);
  metrics.readFrom('s3accel_node_capacity_bytes', () => store.capacityBytes);

  return {
    nodeId: node.id,
    driver,
    slab,
    forward,
    tick: () => {
      driver.tick();
    },
    reload: (wanted) => {
      origins = originsOf(wanted);
      policyOf = policies(wanted.cache);
    },
    stop: async () => {
      links?.close();
      await client.close();
      slab.close();
    },
  };
}

/** Listens for other processes of the cluster; a process that is a cluster of its own has none. */
function startLinks(
  { config, reactor, log, faults, metrics }: ProcessContext,
  node: NodeConfig,
  slab: Slab,
  driver: NodeDriver,
  forward: ForwardPort,
): LinkServer | null {
  if (config.cluster === undefined || node.listen === undefined) return null;
  const { secret, tcp } = config.cluster;
  const links = new LinkServer(
    reactor,
    {
      ...defaultLinkServerOptions,
      secret: linkKey(secret),
      rtoMinUs: tcp.rtoMinUs,
      delackMaxUs: tcp.delackMaxUs,
      maxLinks: node.maxLinks,
      lendPages: slab.lendsPages,
    },
    faults,
    new LinkReads(driver),
    forward,
  );
  driver.linkAnswers = new LinkAnswers(links, slab.readDescriptor);
  const port = links.listen(node.listen.host, node.listen.port);
  metrics.readFrom('s3accel_node_links', () => links.links);
  publishLimit(metrics, 'node_links', () => links.linksRefused);
  publishLimit(metrics, 'link_reads', () => links.readsRefused);
  log.info({ host: node.listen.host, port }, 'listening for links');
  return links;
}
