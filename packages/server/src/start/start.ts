/**
 * Starts what a configuration asks for: a reactor, a node, a gateway, its further loops, the admin listener.
 *
 * The node, if there is one, and the gateway's first loop share the main thread; further loops have theirs (loops/).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Ring } from '@s3-accelerator/core/ring.ts';
import { raiseFileLimit } from '@s3-accelerator/native/files.ts';
import { Reactor } from '@s3-accelerator/native/reactor.ts';
import { startAdmin, type AdminServer } from '../admin/admin-server.ts';
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
  /** Aborted when the process is asked to stop: a start that is under way gives up. */
  readonly signal?: AbortSignal;
}

const never = new AbortController().signal;

/** Rejects when it can't start, or is asked to stop before it has: everything is released then. */
export async function start(
  config: Config,
  log: Log,
  { wrapFiles = (files) => files, signal = never }: StartOptions = {},
): Promise<Running> {
  checkFileLimit(config, log);
  const reactor = new Reactor({ maxConnections: connectionsOf(config) + spareConnections });
  const faults = new FaultLog(log);
  const metrics = new Metrics(version);
  const memory = newSharedMemory(config.gateway?.loops);
  const now = (): number => performance.now();
  const ring = ringOf(config, now);
  const inner = innerCluster(config);
  let mustStop: (why: string) => void = () => undefined;
  const failed = new Promise<string>((resolve) => (mustStop = resolve));
  const context = { config, reactor, ring, log, faults, metrics, now, wrapFiles, signal, mustStop };
  let node: RunningNode | null = null;
  let gateway: RunningGateway | null = null;
  let loops: FurtherLoops | null = null;
  let admin: AdminServer | null = null;
  let phase: 'starting' | 'started' | 'stopping' = 'starting';
  reactor.onBatchEnd = () => {
    gateway?.driver.drain();
  };
  // From the start: the first loop serves while the threads of others come up.
  const ticker = setInterval(() => {
    node?.tick();
    gateway?.tick();
  }, tickMs);
  const notReady = (): string | null => {
    if (phase !== 'started') return phase;
    return node?.notReady() ?? gateway?.notReady() ?? loops?.notReady() ?? null;
  };
  const stop = async (): Promise<void> => {
    phase = 'stopping';
    // Before the node, which further loops may still be asking.
    await Promise.all([gateway?.stop(), loops?.stop()]);
    clearInterval(ticker);
    await node?.stop();
    reactor.stop();
    await admin?.close();
  };
  try {
    const listen = config.admin?.listen;
    // First: whoever waits for a long start is told so, and nothing was begun yet if the port is taken.
    if (listen !== undefined) {
      admin = await startAdmin({ listen, metrics, notReady, version, faults });
    }
    if (config.node !== undefined) node = await startNode(context, config.node, inner);
    signal.throwIfAborted();
    if (config.gateway !== undefined) {
      gateway = startGateway(
        { ...context, ...sharedParts(memory, config.gateway), node },
        config.gateway,
      );
      const port = gateway.listen();
      loops = await startFurtherLoops(context, { memory, node, inner, port });
    }
    signal.throwIfAborted();
  } catch (error) {
    await stop();
    throw error;
  }
  metrics.addLoops(() => loops?.figures() ?? Promise.resolve([]));
  metrics.readFrom('s3accel_gateway_loops_standing_still', () => loops?.standingStill() ?? 0);
  publishRing(metrics, ring);
  publishReactor(metrics, () => reactor.stats());
  phase = 'started';
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
    stop,
  };
}
