/**
 * What the links of one side of a process share: the reactor, the limits, the ring, and where faults are logged.
 */
import type { DatedRing } from '@s3-accelerator/core/ring-history.ts';
import type { ConnectionId, Reactor } from '@s3-accelerator/native/reactor.ts';
import type { FaultLog } from '../log.ts';
import type { LinkOptions } from './link-options.ts';

/** The ring as links need to know it. */
export interface LinkRing {
  /** Of the ring that this process places by, 0 for none. */
  readonly version: number;
  /** What stands for that version in frame headers (protocol/ring-message.ts). */
  readonly mark: number;
  /** Asking end: whether rings that nodes have are of interest. False where gossip brings them. */
  readonly isFollowed: boolean;
  /** Answering end: the current ring and its past, newest first; none when the asker's version is the newest. */
  newerThan(version: number): DatedRing[];
  /** Asking end: a node's rings, newest first. */
  adopt(rings: readonly DatedRing[]): void;
}

const noRing: LinkRing = {
  version: 0,
  mark: 0,
  isFollowed: false,
  newerThan: () => [],
  adopt: () => undefined,
};

export class LinkContext {
  /** Set by the composition. */
  ring: LinkRing = noRing;
  readonly reactor: Reactor;
  readonly options: LinkOptions;
  readonly faults: FaultLog;
  #timersRefused = false;

  constructor(reactor: Reactor, options: LinkOptions, faults: FaultLog) {
    this.reactor = reactor;
    this.options = options;
    this.faults = faults;
  }

  /** Sets the TCP timers of a link. Kernels that don't know them are left alone, with one line in the log. */
  setTimers(id: ConnectionId): void {
    const { rtoMinUs, delackMaxUs } = this.options;
    if (this.#timersRefused || (rtoMinUs === 0 && delackMaxUs === 0)) return;
    const errno = this.reactor.setTcpTimers(id, rtoMinUs, delackMaxUs);
    if (errno === 0) return;
    this.#timersRefused = true;
    this.faults.warn(
      'link-tcp-timers',
      'links keep the timers of the kernel: it knows no TCP_RTO_MIN_US or TCP_DELACK_MAX_US',
      { errno },
    );
  }
}
