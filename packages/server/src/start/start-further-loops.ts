/** What further loops of a gateway are started with: where they listen, and which nodes they ask. */
import type { Address } from '../config/address.ts';
import type { ClusterConfig, Config } from '../config/config.ts';
import { FurtherLoops } from '../loops/further-loops.ts';
import type { SharedMemory } from '../loops/shared-memory.ts';
import type { PeerAddress } from '../peers/peers.ts';
import type { ProcessContext } from './process-context.ts';
import type { RunningNode } from './start-node.ts';

export interface FurtherLoopsContext {
  readonly memory: SharedMemory;
  /** The node of this process, null when it has none. */
  readonly node: RunningNode | null;
  /** The cluster that only this process knows; null where the configuration has one. */
  readonly inner: ClusterConfig | null;
  /** Where the first loop listens: the kernel may have picked the port. */
  readonly port: number;
}

/** null when the first loop is the only one. Rejects when one of them can't listen, or the process is asked to stop before. */
export async function startFurtherLoops(
  { config, log, signal, mustStop }: ProcessContext,
  { memory, node, inner, port }: FurtherLoopsContext,
): Promise<FurtherLoops | null> {
  const { gateway } = config;
  if (gateway === undefined || gateway.loops === 1) return null;
  const near = node === null ? null : nearAddress(node);
  const loopConfig: Config = {
    ...config,
    node: undefined,
    cluster: clusterOf(config.cluster ?? inner ?? undefined, near),
    gateway: { ...gateway, listen: { host: gateway.listen.host, port } },
  };
  const count = gateway.loops - 1;
  return FurtherLoops.start({ count, config: loopConfig, near, memory, log, signal, mustStop });
}

/** How a process reaches its own node: by whatever address, if it listens on all. */
function nearAddress({ nodeId, linksAt }: RunningNode): PeerAddress | null {
  if (linksAt === null) return null;
  return { nodeId, host: hostToReach(linksAt), port: linksAt.port };
}

function hostToReach({ host }: Address): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** The cluster with the near node named first. */
function clusterOf(
  cluster: ClusterConfig | undefined,
  near: PeerAddress | null,
): ClusterConfig | undefined {
  if (cluster === undefined || near === null) return cluster;
  const { nodeId, host, port } = near;
  const others = cluster.nodes.filter(({ id }) => id !== nodeId);
  return { ...cluster, nodes: [{ id: nodeId, address: { host, port }, weight: 1 }, ...others] };
}
