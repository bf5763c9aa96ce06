/**
 * The way from a node to the others, for what moved here with a ring change: whoever was a member within the window can be asked, members
 * that left included, as long as they run. And for what nodes tell each other about hot keys.
 */
import type { RingHistory } from '@s3-accelerator/core/ring-history.ts';
import type { Member } from '@s3-accelerator/core/ring.ts';
import { addressesOf } from '../cluster/ring-follower.ts';
import type { NodeConfig } from '../config/config.ts';
import { publishLimit } from '../metrics/publish.ts';
import type { NodeDriver } from '../node/node-driver.ts';
import { PeerFetches } from '../node/peer-fetches.ts';
import { defaultPeerOptions } from '../peers/link-options.ts';
import { Peers } from '../peers/peers.ts';
import { linkKey } from './link-key.ts';
import { PastRings } from './past-rings.ts';
import type { ProcessContext } from './process-context.ts';

/** Blocks that come from one node at a time; more wait. */
const exclusiveLinks = 8;
/** How often those are forgotten that left the window. */
const forgetMs = 10_000;

export interface NodePeers {
  close(): void;
}

/** Lets a node ask others, and tells it of each newer ring together with those before it. */
export function startNodePeers(
  context: ProcessContext,
  node: NodeConfig,
  driver: NodeDriver,
): NodePeers {
  const { ring, now } = context;
  const tell = (): void => {
    driver.node.onRing(now(), ring.current, ring.history.rings(now()).slice(1));
  };
  const peers = openPeers(context, node, driver, new PastRings(ring, now, tell));
  const setMembers = (): void => {
    peers?.setMembers(addressesOf(othersOf(ring.history, now(), node.id)));
  };
  ring.onChange(() => {
    // First, so that whoever the core asks can be reached.
    setMembers();
    tell();
    // Opens links: whoever has just come learns the past over them.
    peers?.reachesAny();
  });
  const forgetting = setInterval(setMembers, forgetMs);
  forgetting.unref();
  return {
    close: () => {
      clearInterval(forgetting);
      peers?.close();
    },
  };
}

/** Links to other nodes; null in a process that is a cluster of its own. */
function openPeers(
  { config, reactor, faults, metrics }: ProcessContext,
  node: NodeConfig,
  driver: NodeDriver,
  past: PastRings,
): Peers | null {
  if (config.cluster === undefined) return null;
  const { secret, tcp } = config.cluster;
  const fetches = new PeerFetches(driver);
  const peers = new Peers(
    reactor,
    {
      ...defaultPeerOptions,
      secret: linkKey(secret),
      rtoMinUs: tcp.rtoMinUs,
      delackMaxUs: tcp.delackMaxUs,
      exclusiveLinks,
      // Those that were given up count until they are answered.
      maxReads: 2 * node.maxFetches,
    },
    faults,
    fetches,
  );
  peers.ring = past;
  fetches.peers = peers;
  driver.peerFetches = fetches;
  driver.sendMessage = (nodeId, message) => {
    peers.sendMessage(nodeId, message);
  };
  publishLimit(metrics, 'node_peer_reads', () => peers.readsRefused);
  return peers;
}

/** Every member within the window but this node, as the newest ring that has it knows it. */
function othersOf(history: RingHistory, now: number, nodeId: number): Member[] {
  const members = new Map<number, Member>();
  for (const { ring } of history.rings(now)) {
    for (const member of ring.members) {
      if (member.nodeId !== nodeId && !members.has(member.nodeId)) {
        members.set(member.nodeId, member);
      }
    }
  }
  return [...members.values()];
}
