/** What the parts on one thread of a process share: made once at its start, handed to node and gateway. */
import type { Reactor } from '@s3-accelerator/native/reactor.ts';
import type { ProcessRing } from '../cluster/process-ring.ts';
import type { Config } from '../config/config.ts';
import type { WrapFiles } from '../disk/disk-files.ts';
import type { FaultLog, Log } from '../log.ts';
import type { Figures } from '../metrics/figures.ts';

export interface ProcessContext {
  readonly config: Config;
  readonly reactor: Reactor;
  readonly ring: ProcessRing;
  readonly log: Log;
  readonly faults: FaultLog;
  readonly metrics: Figures;
  /** Milliseconds from a monotonic clock, the same for all threads of the process. */
  readonly now: () => number;
  readonly wrapFiles: WrapFiles;
  /** Aborted when the process is asked to stop: a start that is under way gives up. */
  readonly signal: AbortSignal;
  /** The process can't go on and must end, for this reason. */
  readonly mustStop: (why: string) => void;
}
