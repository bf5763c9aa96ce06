/** What the parts of membership share. */
import type { Prng } from '../base/prng.ts';
import type { Member } from '../ring.ts';
import type { MembershipCounters } from './counters.ts';
import type { MembershipEffects } from './effects.ts';
import type { MemberTable } from './member-table.ts';
import type { Mail } from './mail.ts';
import type { MembershipTiming } from './timing.ts';

/**
 * joining: looks for the cluster and for rivals. member: has its place. leaving: gave its place up, still serves. stopped: said
 * farewell, or gave way to a rival; it sends nothing any more.
 */
export type Phase = 'joining' | 'member' | 'leaving' | 'stopped';

/** This node: what it is by its configuration, and how far it got. */
export interface Self extends Member {
  /** Random name of this life of the process. */
  readonly run: number;
  phase: Phase;
}

export interface MembershipParts {
  readonly effects: MembershipEffects;
  readonly timing: MembershipTiming;
  readonly prng: Prng;
  readonly self: Self;
  readonly table: MemberTable;
  readonly mail: Mail;
  readonly counters: MembershipCounters;
}

/** Whether the node has taken its place since it started, and not stopped. */
export function isMember(self: Self): boolean {
  return self.phase === 'member' || self.phase === 'leaving';
}
