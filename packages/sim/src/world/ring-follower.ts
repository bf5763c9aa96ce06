/**
 * How a gateway beside no node finds the ring and keeps to it, as the program does: it asks the nodes that its configuration names
 * until one gives a ring, and from then on the ring's members; those named again when none of these can be reached for long.
 */
import type { EventQueue } from './event-queue.ts';
import type { ProcessRing } from './process-ring.ts';

/** How often it looks. */
const seekMs = 100;
/** After how long without any member the named nodes are asked instead, and for how long. */
const lostMs = 15_000;

export interface RingFollowerOptions {
  readonly queue: EventQueue;
  readonly ring: ProcessRing;
  /** The nodes that the configuration names. */
  readonly named: readonly number[];
  /** Keeps links to these nodes from now on. */
  readonly setMembers: (nodeIds: readonly number[]) => void;
  /** Whether one of them has answered; opens links where there are none. */
  readonly reachesAny: () => boolean;
}

export class RingFollower {
  readonly #options: RingFollowerOptions;
  /** Since when no node of the ring could be reached; Infinity while one can. */
  #lostSince = Infinity;
  /** Until when the named nodes are asked in their place; Infinity while they aren't. */
  #turnsBackAt = Infinity;
  #isOver = false;

  /** Sets out to ask the named nodes. */
  constructor(options: RingFollowerOptions) {
    this.#options = options;
    const { ring, named, setMembers } = options;
    ring.onChange(() => {
      this.#askMembers();
    });
    setMembers(named);
    this.#lookAgain();
  }

  stop(): void {
    this.#isOver = true;
  }

  #lookAgain(): void {
    const { queue } = this.#options;
    // Not all that much under way: a gateway looks for ever.
    queue.lookAt(queue.now + seekMs, () => {
      if (this.#isOver) return;
      this.#look();
      this.#lookAgain();
    });
  }

  #look(): void {
    const { queue, ring, reachesAny } = this.#options;
    const { now } = queue;
    const reaches = reachesAny();
    if (ring.version === 0) return;
    if (now >= this.#turnsBackAt) this.#askMembers();
    else if (reaches) this.#lostSince = Infinity;
    else if (this.#lostSince === Infinity) this.#lostSince = now;
    else if (now - this.#lostSince > lostMs) this.#askNamed(now);
  }

  /** The nodes of the ring are gone, or so it seems: those that the configuration names may know more. */
  #askNamed(now: number): void {
    const { named, setMembers } = this.#options;
    this.#lostSince = Infinity;
    this.#turnsBackAt = now + lostMs;
    setMembers(named);
  }

  #askMembers(): void {
    const { ring, setMembers } = this.#options;
    this.#lostSince = Infinity;
    this.#turnsBackAt = Infinity;
    setMembers(ring.current.members.map(({ nodeId }) => nodeId));
  }
}
