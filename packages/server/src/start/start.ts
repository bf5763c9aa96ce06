/**
 * Starts what a configuration asks for: a reactor, a node, a gateway, its further loops, the admin listener.
 *
 * The node, if there is one, and the gateway's first loop share the main thread; further loops have theirs (loops/).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Ring } from '@s3-accelerator/core/ring.ts';
import { raiseFileLimit } from '@s3-accelerator/native/files.ts';
import { Reactor } from '@s3-accelerator/native/reactor.ts';
import { startAdmin } from '../admin/admin-server.ts';
import type { Running } from '../command-line.ts';
import { ProcessRing } from '../cluster/process-ring.ts';
import type { Config } from '../config/config.ts';
import type { WrapFiles } from '../disk/disk-files.ts';
import { FaultLog, type Log } from '../log.ts';
import type { FurtherLoops } from '../loops/further-loops.ts';
import { newSharedMemory, sharedParts } from '../loops/shared-memory.ts';
import { Metrics } from '../metrics/metrics.ts';
import { publishRing } from '../metrics/publish-cluster.ts';
import { publishReactor } from '../metrics/publish.ts';
import { version } from '../version.ts';
import { startFurtherLoops } from './start-further-loops.ts';
import { innerCluster } from './inner-links.ts';
import { startGateway, type RunningGateway } from './start-gateway.ts';
import { spareConnections, tickMs } from './start-limits.ts';
import { startNode, type RunningNode } from './start-node.ts';

/** Descriptors besides connections: the slab, the origin's sockets, pipes, the log. */
const spareDescriptors = 2048;

/** The ring of a process: what its node's gossip or the nodes that it asks bring, or for ever the one of a lone process. */
function ringOf({ cluster, node }: Config, now: () => number): ProcessRing {
  const windowMs = (cluster?.fallbackWindowS ?? 0) * 1000;
  const ring = new ProcessRing({
    windowMs,
    isFollowed: cluster !== undefined && node === undefined,
    now,
  });
  if (cluster === undefined) {
    ring.advance(new Ring(1, [{ nodeId: node?.id ?? 0, weight: 1, address: '' }]));
  }
  return ring;
}

/** How many connections others may have with this process. */
function connectionsOf({ gateway, node }: Config): number {
  return (gateway?.maxConnections ?? 0) + (node?.maxLinks ?? 0);
}

function checkFileLimit(config: Config, log: Log): void {
  const limit = raiseFileLimit();
  const connections = connectionsOf(config);
  const wanted = connections + spareDescriptors;
  if (limit >= wanted) return;
  log.warn(
    { limit, wanted, connections },
    `the limit of open files is ${limit}, below the ${wanted} that the configured connections may need: ` +
      'raise the hard limit (LimitNOFILE= in systemd, --ulimit nofile= in containers, ulimit -Hn), ' +
      'or lower gateway.max_connections and node.max_links; connections past it wait',
  );
}

export interface StartOptions {
  /** Stands between a node and its files. */
  readonly wrapFiles?: WrapFiles;
}

export async function start(
  config: Config,
  log: Log,
  { wrapFiles = (files) => files }: StartOptions = {},
): Promise<Running> {
  checkFileLimit(config, log);
  const reactor = new Reactor({ maxConnections: connectionsOf(config) + spareConnections });
  const faults = new FaultLog(log);
  const metrics = new Metrics(version);
  const memory = newSharedMemory();
  const now = (): number => performance.now();
  const ring = ringOf(config, now);
  const inner = innerCluster(config);
  let mustStop: (why: string) => void = () => undefined;
  const failed = new Promise<string>((resolve) => (mustStop = resolve));
  const context = { config, reactor, ring, log, faults, metrics, now, wrapFiles, mustStop };
  let node: RunningNode | null = null;
  let gateway: RunningGateway | null = null;
  let loops: FurtherLoops | null = null;
  reactor.onBatchEnd = () => {
    gateway?.driver.drain();
  };
  // From the start: the first loop serves while the threads of others come up.
  const ticker = setInterval(() => {
    node?.tick();
    gateway?.tick();
  }, tickMs);
  try {
    if (config.node !== undefined) node = await startNode(context, config.node, inner);
    if (config.gateway !== undefined) {
      gateway = startGateway(
        { ...context, ...sharedParts(memory, config.gateway), node },
        config.gateway,
      );
      const port = gateway.listen();
      loops = await startFurtherLoops(context, { memory, node, inner, port });
    }
  } catch (error) {
    await gateway?.stop();
    clearInterval(ticker);
    await node?.stop();
    reactor.stop();
    throw error;
  }
  metrics.addLoops(() => loops?.figures() ?? Promise.resolve([]));
  publishRing(metrics, ring);
  publishReactor(metrics, () => reactor.stats());
  let isStopping = false;
  const notReady = (): string | null => {
    if (isStopping) return 'stopping';
    return node?.notReady() ?? gateway?.notReady() ?? loops?.notReady() ?? null;
  };
  const listen = config.admin?.listen;
  const admin =
    listen === undefined ? null : await startAdmin({ listen, metrics, notReady, version, faults });
  return {
    failed,
    leave: async () => {
      if (node === null || config.cluster === undefined) {
        log.warn('there is no ring to leave: this process is no node of a cluster');
        return false;
      }
      node.leave();
      await sleep(config.cluster.fallbackWindowS * 1000);
      return true;
    },
    reload: async (wanted) => {
      node?.reload(wanted);
      gateway?.reload(wanted);
      await loops?.reload(wanted);
    },
    stop: async () => {
      isStopping = true;
      // Before the node, which further loops may still be asking.
      await Promise.all([gateway?.stop(), loops?.stop()]);
      clearInterval(ticker);
      await node?.stop();
      reactor.stop();
      await admin?.close();
    },
  };
}
