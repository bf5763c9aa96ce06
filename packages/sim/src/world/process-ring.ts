/**
 * The ring as a process knows it, and the rings that it replaced within the window: one for all its parts, as in the program.
 *
 * It comes from the node's own gossip, or from nodes that a gateway asked. Before the first one the ring is empty.
 */
import { RingHistory, type DatedRing } from '@s3-accelerator/core/ring-history.ts';
import { Ring } from '@s3-accelerator/core/ring.ts';

const emptyRing = new Ring(0, []);

export class ProcessRing {
  readonly history: RingHistory;
  /** Somebody showed a version that is newer than the one here. */
  onNewerSeen: (version: number) => void = () => undefined;
  readonly #now: () => number;
  readonly #listeners: ((ring: Ring) => void)[] = [];

  /** `now` is the process's own clock. */
  constructor(windowMs: number, now: () => number) {
    this.history = new RingHistory(windowMs);
    this.#now = now;
  }

  get current(): Ring {
    return this.history.current ?? emptyRing;
  }

  get version(): number {
    return this.current.version;
  }

  /** Tells a part of the process of each newer ring from now on. */
  onChange(listener: (ring: Ring) => void): void {
    this.#listeners.push(listener);
  }

  /** The rings of the window for somebody who holds this version, newest first; none when there is nothing newer. */
  newerThan(version: number): DatedRing[] {
    if (version > this.version) this.onNewerSeen(version);
    return version < this.version ? this.rings() : [];
  }

  /** All rings of the window, newest first. */
  rings(): DatedRing[] {
    return this.history.rings(this.#now());
  }

  adopt(rings: readonly DatedRing[]): void {
    if (!this.history.adopt(this.#now(), rings)) return;
    const { current } = this;
    for (const listener of this.#listeners) listener(current);
  }

  /** A ring that this process came to by itself. */
  advance(ring: Ring): void {
    this.adopt([{ ring, replacedForMs: 0 }]);
  }

  /** Rings from before the present one, told by somebody. True when there are any. */
  adoptPast(rings: readonly DatedRing[]): boolean {
    const { current } = this;
    const older = rings.filter(({ ring }) => ring.version > 0 && ring.version < current.version);
    if (older.length === 0) return false;
    this.history.adopt(this.#now(), [{ ring: current, replacedForMs: 0 }, ...older]);
    return true;
  }
}
