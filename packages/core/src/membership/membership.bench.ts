/**
 * What membership costs: bytes and packets a member sends in a second, how fast news travels, how often members are suspected
 * without reason, CPU a member. `node membership.bench.ts [MEMBERS…]`.
 *
 * All but the CPU time depends on the seed alone: equal code gives equal hashes. Bytes are those of datagrams, without the
 * heads of UDP and IP (28 a packet).
 */
import { mix32 } from '../base/hash.ts';
import { nodesOf, settledCluster } from './testing/test-network.ts';

export interface MembershipFigures {
  readonly quietBytesPerSecond: number;
  readonly quietPacketsPerSecond: number;
  /** Of the quiet time, a member: the model of the network included. */
  readonly cpuMicrosPerSecond: number;
  /** From a kill until all know that it is down. */
  readonly downMs: number;
  /** From a start until all have the ring with the newcomer. */
  readonly joinMs: number;
  /** What all sent for that join, beyond what they send when it is quiet. */
  readonly joinBytes: number;
  /** Suspicions a member-hour, and how many of them ended in down, at 5% loss. */
  readonly suspicionsPerHour: number;
  readonly falseDowns: number;
  readonly resultHash: number;
}

/** Measures a cluster of `members`, each phase for `ms` of its own time. */
export function measureMembership(members: number, ms: number): MembershipFigures {
  const network = settledCluster(1, members);
  // Until what started it all is no news any more.
  network.run(60_000);
  const seconds = ms / 1000;

  const [bytes, packets, start] = [network.bytes, network.datagrams, performance.now()];
  network.run(ms);
  const cpuMs = performance.now() - start;
  const quietBytes = network.bytes - bytes;
  const quietPackets = network.datagrams - packets;

  const victim = network.running[members - 1]!;
  network.kill(victim);
  const downMs = network.until(60_000, () =>
    network.running.every(({ membership }) => membership.statusOf(members - 1) === 'down'),
  );
  network.run(10_000);

  const nodes = nodesOf(members + 1);
  const beforeJoin = network.bytes;
  const startedAt = network.queue.now;
  network.start(nodes[members]!, [nodes[members]!, nodes[0]!]);
  const ids = nodes.map(({ nodeId }) => nodeId);
  const joinMs = network.until(20_000, () => network.agreeOn(ids));
  network.run(10_000);
  const joinSeconds = (network.queue.now - startedAt) / 1000;
  const joinBytes = network.bytes - beforeJoin - (quietBytes / seconds) * joinSeconds;

  const lossy = settledCluster(2, members);
  lossy.loss = 0.05;
  lossy.run(ms);
  let suspicions = 0;
  let falseDowns = 0;
  for (const { membership } of lossy.running) {
    suspicions += membership.counters.probesFailed;
    falseDowns += membership.counters.downs;
  }

  const results = [quietBytes, quietPackets, downMs, joinMs, suspicions, falseDowns, lossy.bytes];
  return {
    quietBytesPerSecond: quietBytes / seconds / members,
    quietPacketsPerSecond: quietPackets / seconds / members,
    cpuMicrosPerSecond: (cpuMs * 1000) / seconds / members,
    downMs,
    joinMs,
    joinBytes,
    suspicionsPerHour: (suspicions / members / seconds) * 3600,
    falseDowns,
    resultHash: results.reduce((hash, result) => mix32(hash ^ Math.round(result)), 0) >>> 0,
  };
}

if (import.meta.main) {
  const counts = process.argv.slice(2).map(Number);
  for (const members of counts.length > 0 ? counts : [3, 16, 64, 256]) {
    console.log(members, measureMembership(members, members > 100 ? 60_000 : 600_000));
  }
}
