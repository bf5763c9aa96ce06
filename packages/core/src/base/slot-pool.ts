/**
 * A bounded pool of reused records, named by ids that carry a generation.
 *
 * An id is one non-negative int of 31 bits: the slot below, in as many bits as the capacity needs, and the generation above.
 * Releasing a record ends its generation, so a completion that comes late finds nothing instead of somebody else's record. A
 * full pool says so with `NO_ID`; what that means (503 SlowDown, and a count) is the caller's to decide.
 *
 * Invariants: an id resolves from its `acquire` until its `release` and never after. Generations go round, so a stale id could
 * match again: freed slots rest behind so many others (or all of a small pool) that at least `LIVES_APART` acquisitions lie
 * between two that give the same id. They rest no longer than that, since a record that was used just now is still in the
 * processor's cache. Memory: 8 bytes a slot of capacity and the records, which are made when first needed.
 */
import { assert } from './assert.ts';

/** Slot and generation of a pooled record, as one non-negative int. */
export type PoolId = number;

/** What a full pool hands out. */
export const NO_ID = -1;

/** The most records a pool can have. */
const MAX_POOL_SLOTS = 1 << 20;

/** An id's bits, of which the slot takes some. */
const ID_BITS = 31;
const ID_MASK = 0x7fff_ffff;
const LIVES_APART = 1 << 21;

export class SlotPool<T> {
  readonly capacity: number;
  /** `id & slotMask` is the id's slot, below `capacity`: an index for arrays that stand beside a pool. */
  readonly slotMask: number;
  readonly #create: (slot: number) => T;
  readonly #records: T[] = [];
  /** How far an id and the next one of its slot lie apart. */
  readonly #generationStep: number;
  readonly #restingSlots: number;
  /** The id under which a slot lives; of one that doesn't, the complement of the next. */
  readonly #ids: Int32Array;
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
    const slotBits = 32 - Math.clz32(capacity - 1);
    this.slotMask = (1 << slotBits) - 1;
    this.#generationStep = 1 << slotBits;
    this.#restingSlots = Math.max(1, LIVES_APART / 2 ** (ID_BITS - slotBits));
    this.#ids = new Int32Array(capacity);
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
    if (slot === this.capacity || this.#freedCount >= this.#restingSlots) {
      if (this.#freedCount === 0) {
        this.#refused++;
        return NO_ID;
      }
      slot = this.#freed[this.#freedFirst]!;
      this.#freedFirst = this.#freedFirst + 1 === this.capacity ? 0 : this.#freedFirst + 1;
      this.#freedCount--;
    } else {
      this.#records.push(this.#create(slot));
      this.#ids[slot] = ~slot;
    }
    const id = ~this.#ids[slot]!;
    this.#ids[slot] = id;
    this.#inUse++;
    return id;
  }

  /** The record of an id, or null when its life is over. */
  get(id: PoolId): T | null {
    return this.#alive(id) ? this.#records[id & this.slotMask]! : null;
  }

  /** Ends a record's life. The id must be alive. */
  release(id: PoolId): void {
    assert(this.#alive(id), 'slot pool: released an id that is not alive');
    const slot = id & this.slotMask;
    this.#ids[slot] = ~((id + this.#generationStep) & ID_MASK);
    let place = this.#freedFirst + this.#freedCount;
    if (place >= this.capacity) place -= this.capacity;
    this.#freed[place] = slot;
    this.#freedCount++;
    this.#inUse--;
  }

  #alive(id: PoolId): boolean {
    if (id < 0) return false;
    const slot = id & this.slotMask;
    return slot < this.#records.length && this.#ids[slot] === id;
  }
}
