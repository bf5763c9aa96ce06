import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newMembershipCounters } from '@s3-accelerator/core/membership/counters.ts';
import type { MemberRecord, MemberStatus } from '@s3-accelerator/core/membership/member-record.ts';
import { Ring } from '@s3-accelerator/core/ring.ts';
import { Metrics } from './metrics.ts';
import {
  publishGossip,
  publishMembers,
  publishMembership,
  publishRing,
} from './publish-cluster.ts';
import { numbered, samplesOf } from './testing/samples.ts';

const total = (counters: object): number =>
  (Object.values(counters) as number[]).reduce((sum, value) => sum + value, 0);

const sumOf = (samples: Map<string, number>): number =>
  [...samples]
    .filter(([name]) => !name.startsWith('s3accel_build_info'))
    .reduce((sum, [, value]) => sum + value, 0);

test('what membership counts is published, each once', async () => {
  const metrics = new Metrics('1.2.3');
  const counters = numbered(newMembershipCounters());
  publishMembership(metrics, counters);
  const samples = await samplesOf(metrics);
  assert.equal(sumOf(samples), total(counters));
  assert.equal(samples.get('s3accel_cluster_removals_total'), counters.removals);
  assert.equal(
    samples.get('s3accel_limits_reached_total{limit="cluster_nodes"}'),
    counters.recordsRefused,
  );
});

test('what gossip counts is published, each once', async () => {
  const metrics = new Metrics('1.2.3');
  const counters = numbered({
    packetsReceived: 0,
    packetsSent: 0,
    bytesSent: 0,
    foreign: 0,
    unchecked: 0,
    badMacs: 0,
    malformed: 0,
    sendsFailed: 0,
  });
  publishGossip(metrics, counters);
  const samples = await samplesOf(metrics);
  assert.equal(sumOf(samples), total(counters));
  assert.equal(samples.get('s3accel_gossip_dropped_total{reason="bad-mac"}'), counters.badMacs);
  assert.equal(samples.get('s3accel_gossip_packets_total{direction="sent"}'), counters.packetsSent);
});

test('ring and nodes are those of the scrape', async () => {
  const metrics = new Metrics('1.2.3');
  const member = (nodeId: number) => ({ nodeId, weight: 1, address: '127.0.0.1:1' });
  const ring = { current: new Ring(0, []) };
  const fares = (status: MemberStatus, nodeId: number): MemberRecord => ({
    ...member(nodeId),
    incarnation: 1,
    status,
    run: 1,
    place: 1,
  });
  let records: MemberRecord[] = [];
  publishRing(metrics, ring);
  publishMembers(metrics, () => records);
  ring.current = new Ring(77, [member(1), member(2)]);
  const statuses: MemberStatus[] = ['alive', 'alive', 'alive', 'suspect', 'down', 'down', 'left'];
  records = statuses.map(fares);
  const samples = await samplesOf(metrics);
  assert.deepEqual(
    [
      's3accel_ring_version',
      's3accel_ring_members',
      's3accel_cluster_nodes_alive',
      's3accel_cluster_nodes_suspect',
      's3accel_cluster_nodes_down',
    ].map((name) => samples.get(name)),
    [77, 2, 3, 1, 2],
  );
});
