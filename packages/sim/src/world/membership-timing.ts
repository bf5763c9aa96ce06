/** Membership's intervals in a run: those of the program, with another pace and another grace. */
import { defaultTiming, type MembershipTiming } from '@s3-accelerator/core/membership/timing.ts';
import type { ClusterOptions } from '../options.ts';

export function timingOf({ probeMs, graceMs }: ClusterOptions): MembershipTiming {
  const pace = probeMs / defaultTiming.probeMs;
  const paced = (ms: number): number => ms * pace;
  const timing = defaultTiming;
  return {
    ...timing,
    probeMs,
    graceMs,
    ackMs: paced(timing.ackMs),
    newsMs: paced(timing.newsMs),
    retryMs: paced(timing.retryMs),
    pullMs: paced(timing.pullMs),
    settleMs: paced(timing.settleMs),
    settleMaxMs: paced(timing.settleMaxMs),
    joinMs: paced(timing.joinMs),
    joinPatienceMs: paced(timing.joinPatienceMs),
    claimMs: paced(timing.claimMs),
    versionPatienceMs: paced(timing.versionPatienceMs),
  };
}
