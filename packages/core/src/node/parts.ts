/** What the parts of one node share: its state, its limits, and the way out. */
import type { FillMemory } from '../base/fill-memory.ts';
import type { LinkedList } from '../base/linked-list.ts';
import type { Journal } from '../journal/journal.ts';
import type { Layout } from '../layout.ts';
import type { Store } from '../store/store.ts';
import type { Admission } from './admission.ts';
import type { NodeCounters } from './counters.ts';
import type { IdentityDigest, NodeEffects } from './effects.ts';
import type { Fetches } from './fetch.ts';
import type { Handovers } from './handovers.ts';
import type { NodeLimits } from './limits.ts';
import type { MetadataTable } from './metadata-table.ts';
import type { Ownership } from './ownership.ts';
import type { PolicyOf } from './policy.ts';
import type { Reader, Readers } from './reader.ts';
import type { Verification } from './verification.ts';

export interface NodeParts {
  readonly effects: NodeEffects;
  readonly digest: IdentityDigest;
  readonly policyOf: PolicyOf;
  readonly layout: Layout;
  readonly ownership: Ownership;
  readonly handovers: Handovers;
  readonly limits: NodeLimits;
  readonly counters: NodeCounters;
  readonly store: Store;
  readonly journal: Journal;
  readonly memory: FillMemory;
  readonly metadata: MetadataTable;
  readonly admission: Admission;
  readonly fetches: Fetches;
  readonly readers: Readers;
  readonly verification: Verification;
  /** Readers that start over at the end of the event. */
  readonly again: LinkedList<Reader>;
  /** The last arrival given to a reader; fetches remember it when they are sent. */
  arrivals: number;
}
