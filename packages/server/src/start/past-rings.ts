/**
 * How a node learns of the rings before it came: gossip brings the present one only, so it asks the nodes that it has links to for
 * theirs, with their past, as links open and whenever one of them shows another ring.
 *
 * What it places by stays gossip's business: of what it is told it takes the rings that are older than its own.
 */
import type { DatedRing } from '@s3-accelerator/core/ring-history.ts';
import type { ProcessRing } from '../cluster/process-ring.ts';
import type { LinkRing } from '../peers/link-context.ts';

export class PastRings implements LinkRing {
  /** Who has none is told all. */
  readonly version = 0;
  readonly isFollowed = true;
  readonly #ring: ProcessRing;
  readonly #now: () => number;
  readonly #learned: () => void;

  /** `learned` is called when there may be more in the ring's history than before. */
  constructor(ring: ProcessRing, now: () => number, learned: () => void) {
    this.#ring = ring;
    this.#now = now;
    this.#learned = learned;
  }

  get mark(): number {
    return this.#ring.mark;
  }

  /** Nobody asks over these links. */
  newerThan(): DatedRing[] {
    return [];
  }

  adopt(rings: readonly DatedRing[]): void {
    const { current, history } = this.#ring;
    const older = rings.filter(({ ring }) => ring.version > 0 && ring.version < current.version);
    if (older.length === 0) return;
    history.adopt(this.#now(), [{ ring: current, replacedForMs: 0 }, ...older]);
    this.#learned();
  }
}
