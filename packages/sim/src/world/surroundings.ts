/** What every process of a run shares. */
import type { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { Checkers } from '../checkers/checkers.ts';
import type { History } from '../history/history.ts';
import type { Situations } from '../situations.ts';
import type { Trace } from '../trace.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import type { EventQueue } from './event-queue.ts';
import type { ClusterWorld } from './node-cluster.ts';
import type { ProcessLife } from '../history/ring-record.ts';
import type { Identities } from './identity.ts';
import type { Network } from './network.ts';
import type { Origin } from './origin.ts';

export interface Surroundings extends ClusterWorld {
  readonly seed: number;
  readonly queue: EventQueue;
  readonly trace: Trace;
  readonly history: History;
  readonly checkers: Checkers;
  readonly situations: Situations;
  readonly identities: Identities;
  readonly network: Network;
  readonly origin: Origin;
  /** How bytes of S3 come in. */
  readonly originPrng: Prng;
  /** How late timers of processes are. */
  timerLatenessMs(): number;
  /** A process places by another ring from now on. */
  ringAdopted(process: ProcessLife, ring: Ring): void;
}
