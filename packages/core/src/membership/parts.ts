/** What the parts of membership share. */
import type { Prng } from '../base/prng.ts';
import type { MembershipCounters } from './counters.ts';
import type { MembershipEffects } from './effects.ts';
import type { MemberTable } from './member-table.ts';
import type { Mail } from './mail.ts';
import type { Self } from './self.ts';
import type { MembershipTiming } from './timing.ts';

export interface MembershipParts {
  readonly effects: MembershipEffects;
  readonly timing: MembershipTiming;
  readonly prng: Prng;
  readonly self: Self;
  readonly table: MemberTable;
  readonly mail: Mail;
  readonly counters: MembershipCounters;
}
