/**
 * What all links of one process share: the reactor, the limits and where faults are logged.
 */
import type { ConnectionId, Reactor } from '@s3-accelerator/native/reactor.ts';
import type { FaultLog } from '../log.ts';
import type { LinkOptions } from './link-options.ts';

export class LinkContext {
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
