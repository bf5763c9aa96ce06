/**
 * A bounded pool of reused records, named by ids that carry a generation.
 *
 * An id is one non-negative int: 11 bits of generation above 20 bits of slot. Releasing a record
 * ends its generation, so a completion that comes late finds nothing instead of somebody else's
 * record. A full pool says so with `NO_ID`; what that means (503 SlowDown, and a count) is the
 * caller's to decide.
 *
 * Invariants: an id resolves from its `acquire` until its `release` and never after. Generations
 * are 11 bits, so a stale id could match again after 2,048 lives of one slot: freed slots queue up
 * behind at least `RESTING_SLOTS` others (or all of a smaller pool) before they live again, which
 * puts millions of acquisitions between the two. Memory: 6 bytes a slot of capacity and the
 * records, which are made when first needed.
 */
import { assert } from './assert.ts';

/** Slot and generation of a pooled record, as one non-negative int. */
export type PoolId = number;

/** What a full pool hands out. */
export const NO_ID = -1;

/** The most records a pool can have: ids keep 20 bits for the slot. */
const MAX_POOL_SLOTS = 1 << 20;

const SLOT_BITS = 20;
const SLOT_MASK = MAX_POOL_SLOTS - 1;
const GENERATION_MASK = (1 << 11) - 1;
const RESTING_SLOTS = 1024;

/** The slot of an id, in [0, capacity): an index for arrays that stand beside a pool. */
export function slotOf(id: PoolId): number {
  return id & SLOT_MASK;
}

export class SlotPool<T> {
  readonly capacity: number;
  readonly #create: (slot: number) => T;
  readonly #records: T[] = [];
  readonly #generations: Uint16Array;
  /** Freed slots in the order of their release: a ring of `capacity` places. */
  readonly #freed: Int32Array;
  #freedFirst = 0;
  #freedCount = 0;
  #inUse = 0;
  #refused = 0;

  /** `create` makes the record of a slot, once; callers set its fields after each `acquire`. */
  constructor(capacity: number, create: (slot: number) => T) {
    assert(capacity >= 1 && capacity <= MAX_POOL_SLOTS, 'slot pool: capacity out of range');
    this.capacity = capacity;
    this.#create = create;
    this.#generations = new Uint16Array(capacity);
    this.#freed = new Int32Array(capacity);
  }

  /** Records between `acquire` and `release`. */
  get inUse(): number {
    return this.#inUse;
  }

  /** How often `acquire` found the pool full. */
  get refused(): number {
    return this.#refused;
  }

  /** Takes a record: its id, or `NO_ID` when all are in use. */
  acquire(): PoolId {
    let slot = this.#records.length;
    if (slot === this.capacity || this.#freedCount >= RESTING_SLOTS) {
      if (this.#freedCount === 0) {
        this.#refused++;
        return NO_ID;
      }
      slot = this.#freed[this.#freedFirst]!;
      this.#freedFirst = this.#freedFirst + 1 === this.capacity ? 0 : this.#freedFirst + 1;
      this.#freedCount--;
    } else {
      this.#records.push(this.#create(slot));
    }
    this.#generations[slot]! |= IN_USE;
    this.#inUse++;
    return ((this.#generations[slot]! & GENERATION_MASK) << SLOT_BITS) | slot;
  }

  /** The record of an id, or null when its life is over. */
  get(id: PoolId): T | null {
    return this.#alive(id) ? this.#records[id & SLOT_MASK]! : null;
  }

  /** Ends a record's life. The id must be alive. */
  release(id: PoolId): void {
    assert(this.#alive(id), 'slot pool: released an id that is not alive');
    const slot = id & SLOT_MASK;
    this.#generations[slot] = (this.#generations[slot]! + 1) & GENERATION_MASK;
    let place = this.#freedFirst + this.#freedCount;
    if (place >= this.capacity) place -= this.capacity;
    this.#freed[place] = slot;
    this.#freedCount++;
    this.#inUse--;
  }

  #alive(id: PoolId): boolean {
    if (id < 0) return false;
    const slot = id & SLOT_MASK;
    if (slot >= this.#records.length) return false;
    return this.#generations[slot] === ((id >>> SLOT_BITS) | IN_USE);
  }
}

/**
 * Marks a generation whose record is in use, so that the coming generation's id doesn't resolve
 * early.
 */
const IN_USE = 1 << 15;
