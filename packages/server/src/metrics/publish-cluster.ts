/** Which metric publishes each figure of the ring, of membership and of gossip. */
import type { MemberRecord, MemberStatus } from '@s3-accelerator/core/membership/member-record.ts';
import type { MembershipCounters } from '@s3-accelerator/core/membership/counters.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import type { GossipCounters } from '../gossip/gossip-socket.ts';
import type { Figures } from './figures.ts';
import { limit, publish, type Plan, type Published } from './publish.ts';

export function publishRing(metrics: Figures, ring: { readonly current: Ring }): void {
  metrics.readFrom('s3accel_ring_version', () => ring.current.version);
  metrics.readFrom('s3accel_ring_members', () => ring.current.members.length);
}

/** How the nodes fare, as this one knows it; those that left for good don't count. */
export function publishMembers(metrics: Figures, records: () => readonly MemberRecord[]): void {
  const count = (status: MemberStatus) => (): number =>
    records().filter((record) => record.status === status).length;
  metrics.readFrom('s3accel_cluster_nodes_alive', count('alive'));
  metrics.readFrom('s3accel_cluster_nodes_suspect', count('suspect'));
  metrics.readFrom('s3accel_cluster_nodes_down', count('down'));
}

export function publishMembership(metrics: Figures, counters: Readonly<MembershipCounters>): void {
  publish(metrics, membershipPlan, () => counters);
}

export function publishGossip(metrics: Figures, counters: Readonly<GossipCounters>): void {
  publish(metrics, gossipPlan, () => counters);
}

const membershipPlan: Plan<MembershipCounters> = {
  probes: ['s3accel_cluster_probes_total'],
  probesFailed: ['s3accel_cluster_failed_probes_total'],
  refutations: ['s3accel_cluster_refutations_total'],
  downs: ['s3accel_cluster_downs_total'],
  removals: ['s3accel_cluster_removals_total'],
  pulls: ['s3accel_cluster_table_pulls_total'],
  recordsRefused: limit('cluster_nodes'),
  relaysRefused: limit('cluster_relays'),
  lateTicks: ['s3accel_cluster_late_ticks_total'],
};

const dropped = (reason: string): Published => ['s3accel_gossip_dropped_total', { reason }];

const gossipPlan: Plan<GossipCounters> = {
  packetsReceived: ['s3accel_gossip_packets_total', { direction: 'received' }],
  packetsSent: ['s3accel_gossip_packets_total', { direction: 'sent' }],
  bytesSent: ['s3accel_gossip_sent_bytes_total'],
  foreign: dropped('foreign'),
  unchecked: dropped('unchecked'),
  badMacs: dropped('bad-mac'),
  malformed: dropped('malformed'),
  sendsFailed: dropped('unsent'),
};
