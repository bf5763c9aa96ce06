/** Starts what a configuration asks for: one reactor, a node, a gateway, the admin listener. */
import { Ring } from '@s3-accelerator/core/ring.ts';
import { raiseFileLimit } from '@s3-accelerator/native/files.ts';
import { Reactor } from '@s3-accelerator/native/reactor.ts';
import { startAdmin } from '../admin/admin-server.ts';
import type { Running } from '../command-line.ts';
import { formatAddress } from '../config/address.ts';
import type { Config } from '../config/config.ts';
import type { WrapFiles } from '../disk/disk-files.ts';
import { FaultLog, type Log } from '../log.ts';
import { Metrics } from '../metrics/metrics.ts';
import { publishReactor } from '../metrics/publish.ts';
import { version } from '../version.ts';
import { startGateway, type RunningGateway } from './start-gateway.ts';
import { startNode, type RunningNode } from './start-node.ts';

/** How often the machines look at their deadlines. */
const tickMs = 50;
/** Descriptors besides connections: the slab, the origin's sockets, pipes, the log. */
const spareDescriptors = 2048;

/** A process without [cluster] is a cluster of its own. */
function ringOf({ cluster, node }: Config): Ring {
  if (cluster === undefined) {
    return new Ring(1, [{ nodeId: node?.id ?? 0, weight: 1, address: '' }]);
  }
  const members = cluster.nodes.map(({ id, weight, address }) => ({
    nodeId: id,
    weight,
    address: formatAddress(address),
  }));
  return new Ring(1, members);
}

function checkFileLimit(config: Config, log: Log): void {
  const limit = raiseFileLimit();
  const connections = (config.gateway?.maxConnections ?? 0) + (config.node?.maxLinks ?? 0);
  if (limit >= connections + spareDescriptors) return;
  log.warn(
    { limit, connections },
    'the limit of open files is below the configured connections: raise it (LimitNOFILE= in systemd, ulimit -Hn)',
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
  const maxConnections =
    (config.gateway?.maxConnections ?? 0) + (config.node?.maxLinks ?? 0) + 1024;
  const reactor = new Reactor({ maxConnections });
  const faults = new FaultLog(log);
  const metrics = new Metrics(version);
  const ring = ringOf(config);
  const now = (): number => performance.now();
  const context = { config, reactor, ring, log, faults, metrics, now, wrapFiles };
  let node: RunningNode | null = null;
  let gateway: RunningGateway | null = null;
  try {
    if (config.node !== undefined) node = await startNode(context, config.node);
    if (config.gateway !== undefined) gateway = startGateway({ ...context, node }, config.gateway);
  } catch (error) {
    await gateway?.stop();
    await node?.stop();
    reactor.stop();
    throw error;
  }
  reactor.onBatchEnd = () => {
    gateway?.driver.drain();
  };
  publishReactor(metrics, () => reactor.stats());
  const ticker = setInterval(() => {
    node?.tick();
    gateway?.tick();
  }, tickMs);
  let isStopping = false;
  const admin =
    config.admin === undefined
      ? null
      : await startAdmin({
          listen: config.admin.listen,
          metrics,
          notReady: () => (isStopping ? 'stopping' : (gateway?.notReady() ?? null)),
          version,
          faults,
        });
  return {
    reload: (wanted) => {
      node?.reload(wanted);
      gateway?.reload(wanted);
    },
    stop: async () => {
      isStopping = true;
      await gateway?.stop();
      clearInterval(ticker);
      await node?.stop();
      reactor.stop();
      await admin?.close();
    },
  };
}
