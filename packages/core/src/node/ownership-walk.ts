/**
 * Lets blocks go first that are no longer this node's: it walks through the store once the window after a ring change is over, and
 * once a node that this one stood in for counts as back, or what another one lent it is over.
 *
 * In bounded steps, so that no event takes long however many blocks there are. A node that isn't in the ring is on its way out or
 * back in: there nothing is to be gained.
 */
import type { Store } from '../store/store.ts';
import type { HeldLeases } from './held-leases.ts';
import type { Ownership } from './ownership.ts';

/** Slots looked at in one step, and the pause before the next. */
const SLOTS_A_STEP = 2048;
const PAUSE_MS = 10;

export class OwnershipWalk {
  readonly #store: Store;
  readonly #ownership: Ownership;
  readonly #leases: HeldLeases;
  /** Where the next step begins; 0 while none is due. */
  #from = 0;
  #nextStepAt = 0;

  constructor(store: Store, ownership: Ownership, leases: HeldLeases) {
    this.#store = store;
    this.#ownership = ownership;
    this.#leases = leases;
  }

  /** When `onTick` has something to do, Infinity for never. */
  get deadline(): number {
    return this.#from > 0 ? this.#nextStepAt : this.#ownership.recheckAt;
  }

  /** Takes the next step if it is due. */
  onTick(now: number): void {
    if (now < this.deadline) return;
    const ownership = this.#ownership;
    if (this.#from === 0) ownership.recheckBegins(now);
    if (!ownership.isMember) {
      this.#from = 0;
      return;
    }
    this.#nextStepAt = now + PAUSE_MS;
    this.#from = this.#store.recheckOwnership(
      this.#from,
      SLOTS_A_STEP,
      (hi, lo) => ownership.keeps(now, hi, lo) || this.#leases.holds(now, hi, lo),
    );
  }
}
