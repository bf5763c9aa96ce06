/** The intervals of membership, all in milliseconds, and its counts. */
export interface MembershipTiming {
  /** One member is probed in each period. */
  readonly probeMs: number;
  /** Without an answer for this long, others are asked to try. */
  readonly ackMs: number;
  /** How many others. */
  readonly relays: number;
  /** How often fresh news is sent out besides what probes carry. */
  readonly newsMs: number;
  /** To how many each time. */
  readonly newsFanout: number;
  /** How long a member that is down keeps its place in the ring. */
  readonly graceMs: number;
  /** How often one of those that aren't there, members that are down and nodes that the configuration names, is tried. */
  readonly retryMs: number;
  /** The least time between two requests for somebody's whole table. */
  readonly pullMs: number;
  /** A ring is published once places haven't changed for this long… */
  readonly settleMs: number;
  /** …and at the latest this long after the first change. */
  readonly settleMaxMs: number;
  /** How often a node that joins tries the next node it knows. */
  readonly joinMs: number;
  /** After how long without an answer from a member it begins a cluster with the nodes of its configuration. */
  readonly joinPatienceMs: number;
  /** How long another holder of this node's id or address has to show itself. */
  readonly claimMs: number;
  /** How long a ring version that this node can't explain may be seen before it outbids it. */
  readonly versionPatienceMs: number;
}

export const defaultTiming: MembershipTiming = {
  probeMs: 1000,
  ackMs: 400,
  relays: 3,
  newsMs: 200,
  newsFanout: 3,
  graceMs: 60_000,
  retryMs: 5000,
  pullMs: 2000,
  settleMs: 500,
  settleMaxMs: 5000,
  joinMs: 500,
  joinPatienceMs: 2000,
  claimMs: 1500,
  versionPatienceMs: 10_000,
};

/** Number of bits of n: about the rounds in which news reaches n members. */
export function roundsFor(n: number): number {
  return 32 - Math.clz32(n);
}

/** How long a suspected member has to contradict. */
export function suspicionMs(timing: MembershipTiming, members: number): number {
  return timing.probeMs * (3 + roundsFor(members));
}

/** How often one record is sent by each member that learned it. */
export function sendsOf(members: number): number {
  return 3 * roundsFor(members);
}
