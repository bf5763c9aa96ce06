/** Measures this machine during a step, second by second, from the measured part's beginning on. */
import type { HostCounters } from './host-counters.ts';
import { readCardCounters, readHostCounters } from './host-counters.ts';

/** What the machine did in the measured part. */
export interface HostUse {
  /** Busy share of all cores, 0 to 1. */
  readonly cpu: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  readonly sentSegments: number;
  readonly retransmittedSegments: number;
  readonly tcpTimeouts: number;
  /** Packets that interfaces dropped, and those that a core's backlog had no room for. */
  readonly droppedPackets: number;
  readonly backlogDrops: number;
  /** Counters of the cards that moved, by interface and name. */
  readonly card: Readonly<Record<string, number>>;
  /** The busy share by second. */
  readonly cpuBySecond: readonly number[];
}

export class HostMeter {
  readonly #card = readCardCounters();
  readonly #begin: NodeJS.Timeout;
  #ticks: NodeJS.Timeout | null = null;
  readonly #samples: HostCounters[] = [];

  /** `startAt` in milliseconds since 1970. */
  constructor(startAt: number) {
    this.#begin = setTimeout(
      () => {
        this.#sample();
        this.#ticks = setInterval(() => this.#sample(), 1000);
      },
      Math.max(0, startAt - Date.now()),
    );
  }

  /** Null when the machine couldn't be measured, or the step ended before its measured part. */
  end(): HostUse | null {
    clearTimeout(this.#begin);
    if (this.#ticks !== null) clearInterval(this.#ticks);
    this.#sample();
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || first === last) return null;
    const card: Record<string, number> = {};
    for (const [name, value] of readCardCounters()) {
      const moved = value - (this.#card.get(name) ?? 0);
      if (moved > 0) card[name] = moved;
    }
    return {
      cpu: busyShare(first, last),
      receivedBytes: last.receivedBytes - first.receivedBytes,
      sentBytes: last.sentBytes - first.sentBytes,
      sentSegments: last.sentSegments - first.sentSegments,
      retransmittedSegments: last.retransmittedSegments - first.retransmittedSegments,
      tcpTimeouts: last.tcpTimeouts - first.tcpTimeouts,
      droppedPackets: last.droppedPackets - first.droppedPackets,
      backlogDrops: last.backlogDrops - first.backlogDrops,
      card,
      cpuBySecond: this.#samples.slice(1).map((each, at) => busyShare(this.#samples[at]!, each)),
    };
  }

  #sample(): void {
    const counters = readHostCounters();
    if (counters !== null) this.#samples.push(counters);
  }
}

/** Rounded to a thousandth. */
function busyShare(before: HostCounters, after: HostCounters): number {
  const all = after.allTicks - before.allTicks;
  return all === 0 ? 0 : Math.round(((after.busyTicks - before.busyTicks) / all) * 1000) / 1000;
}
