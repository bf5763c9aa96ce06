/** What membership counts, for the metrics. */
export interface MembershipCounters {
  probes: number;
  /** Probes that nobody answered, not even by way of others: each a suspicion. */
  probesFailed: number;
  /** How often this node contradicted that it be suspect, down or out. */
  refutations: number;
  /** Members that were found down here. */
  downs: number;
  /** Places that were taken here from members that stayed down. */
  removals: number;
  /** Tables asked of others because they differ from this node's. */
  pulls: number;
  /** Records of node ids that the full table had no room for. */
  recordsRefused: number;
  /** Relayed probes that found too many others under way. */
  relaysRefused: number;
  /** Ticks so late that this process must have stood still, and blamed nobody for it. */
  lateTicks: number;
}

export function newMembershipCounters(): MembershipCounters {
  return {
    probes: 0,
    probesFailed: 0,
    refutations: 0,
    downs: 0,
    removals: 0,
    pulls: 0,
    recordsRefused: 0,
    relaysRefused: 0,
    lateTicks: 0,
  };
}
