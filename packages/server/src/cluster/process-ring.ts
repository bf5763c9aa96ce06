/**
 * The ring as this process knows it, and the rings that it replaced within the window: one for all its parts.
 *
 * It comes from the node's own gossip, from nodes that a gateway asked, or, in a process that is a cluster of its own, from
 * nowhere: then it is given. Newer versions replace older ones and are told to whoever listens, in the order in which they
 * asked to be told. Before the first one the ring is empty: version 0, nobody to ask.
 */
import { RingHistory, type DatedRing } from '@s3-accelerator/core/ring-history.ts';
import { Ring } from '@s3-accelerator/core/ring.ts';
import { ringMark } from '@s3-accelerator/protocol/ring-message.ts';
import type { LinkRing } from '../peers/link-context.ts';

const emptyRing = new Ring(0, []);

export interface ProcessRingOptions {
  /** How long rings that were replaced are kept, in milliseconds. */
  readonly windowMs: number;
  /** Whether this process learns of newer rings from the nodes that it asks. */
  readonly isFollowed: boolean;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

export class ProcessRing implements LinkRing {
  readonly isFollowed: boolean;
  readonly history: RingHistory;
  /** Somebody showed a version that is newer than the one here. */
  onNewerSeen: (version: number) => void = () => undefined;
  readonly #now: () => number;
  readonly #listeners: ((ring: Ring) => void)[] = [];
  #mark = 0;

  constructor({ windowMs, isFollowed, now }: ProcessRingOptions) {
    this.isFollowed = isFollowed;
    this.history = new RingHistory(windowMs);
    this.#now = now;
  }

  /** The newest ring, an empty one before there is any. */
  get current(): Ring {
    return this.history.current ?? emptyRing;
  }

  get version(): number {
    return this.current.version;
  }

  get mark(): number {
    return this.#mark;
  }

  /** Tells a part of the process of each newer ring from now on. */
  onChange(listener: (ring: Ring) => void): void {
    this.#listeners.push(listener);
  }

  newerThan(version: number): DatedRing[] {
    if (version > this.version) this.onNewerSeen(version);
    return version < this.version ? this.history.rings(this.#now()) : [];
  }

  adopt(rings: readonly DatedRing[]): void {
    if (!this.history.adopt(this.#now(), rings)) return;
    const { current } = this;
    this.#mark = ringMark(current.version);
    for (const listener of this.#listeners) listener(current);
  }

  /** A ring that this process came to by itself. */
  advance(ring: Ring): void {
    this.adopt([{ ring, replacedForMs: 0 }]);
  }
}
