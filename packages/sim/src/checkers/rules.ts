/** What a run declares to its checkers. Times in milliseconds of true time. */
export interface Rules {
  /** A process's clock runs by at most this share faster or slower than true time: 0.001. */
  readonly maxDrift: number;
  /** How long after a fault is over its time-outs and retries may still cost answers. */
  readonly faultGraceMs: number;
  /** The doorkeeper's window: a read counts for at least one, at most two of them. */
  readonly doorkeeperWindowMs: number;
  /** Any answer takes less than this once faults have stopped. */
  readonly answerWithinMs: number;
  /** How long after a node failed a gateway others may stand in for it. */
  readonly suspicionMs: number;
  /** How long a previous owner that said nothing is left alone. */
  readonly peerRestMs: number;
  /** To how many nodes a hot placement is lent at a time. */
  readonly hotReplicas: number;
}

/** How long a write whose outcome nobody knows keeps its key revalidating. */
export const unknownWriteMs = 60_000;

/** Times closer than this have no order. */
export const clockGrainMs = 0.01;

/** The longest true time that a process may take for `ms` milliseconds of its own clock. */
export function atMost(ms: number, rules: Rules): number {
  return ms / (1 - rules.maxDrift) + clockGrainMs;
}

/** The shortest one. */
export function atLeast(ms: number, rules: Rules): number {
  return ms / (1 + rules.maxDrift) - clockGrainMs;
}
