/**
 * A node's part in the cluster: it gossips where it listens for links, and what it hears becomes the ring of its process.
 */
import { defaultTiming } from '@s3-accelerator/core/membership/timing.ts';
import { formatAddress, type Address } from '../config/address.ts';
import type { ClusterConfig, NodeConfig } from '../config/config.ts';
import { gossipKey } from '../gossip/gossip-key.ts';
import { GossipSocket } from '../gossip/gossip-socket.ts';
import { Gossip } from '../gossip/gossip.ts';
import type { FaultLog, Log } from '../log.ts';
import type { Figures } from '../metrics/figures.ts';
import { publishGossip, publishMembers, publishMembership } from '../metrics/publish-cluster.ts';
import type { ProcessRing } from './process-ring.ts';

export interface MembershipContext {
  readonly cluster: ClusterConfig;
  readonly node: NodeConfig;
  /** Where the node listens for links: gossip uses the same address and port. */
  readonly listen: Address;
  readonly ring: ProcessRing;
  readonly log: Log;
  readonly faults: FaultLog;
  readonly metrics: Figures;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** The node began a cluster by itself although these were named: nobody answered there. */
  readonly foundNobody: (others: readonly Address[]) => void;
  /** Another process has this node's id or address, and this one must end. */
  readonly mustStop: (why: string) => void;
}

/** Sets out to join the cluster. Rejects when somebody has the port already. */
export async function joinCluster(context: MembershipContext): Promise<Gossip> {
  const { cluster, node, listen, ring, log, metrics, now, mustStop, foundNobody } = context;
  const socket = await openSocket(context);
  const gossip = new Gossip({
    socket,
    self: { nodeId: node.id, weight: node.weight, address: formatAddress(node.address ?? listen) },
    seeds: cluster.nodes.map(({ id, weight, address }) => ({
      nodeId: id,
      weight,
      address: formatAddress(address),
    })),
    timing: { ...defaultTiming, graceMs: cluster.downGraceS * 1000 },
    events: {
      joined: (founded) => {
        const others = cluster.nodes.filter(({ id }) => id !== node.id);
        if (founded && others.length > 0) foundNobody(others.map(({ address }) => address));
      },
      ringChanged: (changed) => {
        ring.advance(changed);
      },
      memberChanged: () => undefined,
      mustStop: ({ about }) => {
        mustStop(`the ${about} of this node is another's`);
      },
    },
    log,
    now,
  });
  ring.onNewerSeen = (version) => {
    gossip.versionSeen(version);
  };
  publishGossip(metrics, socket.counters);
  publishMembership(metrics, gossip.counters);
  publishMembers(metrics, () => gossip.records());
  return gossip;
}

async function openSocket({
  cluster,
  listen,
  faults,
  now,
}: MembershipContext): Promise<GossipSocket> {
  try {
    return await GossipSocket.open({ listen, key: gossipKey(cluster.secret), faults, now });
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const where = formatAddress(listen);
    throw new Error(`can't gossip at ${where}, the address for links, over UDP: ${code}`, {
      cause: error,
    });
  }
}
