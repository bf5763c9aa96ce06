/**
 * Where in the slab each slot lies: extents, each cut into slots of one size class.
 *
 * An extent without a slot in use belongs to no class; whoever needs slots next cuts it anew. That is how space moves between
 * classes as demand shifts: store.ts empties an extent, and it is free for any class.
 *
 * Invariants: slots don't overlap and lie in the slab; an extent that is cut has at least one slot in use; each free
 * slot is in its class's list. Memory: 6 bytes an extent.
 */
import { assert } from '../base/assert.ts';
import type { SizeClasses } from './size-classes.ts';
import { SlotLists } from './slot-lists.ts';
import { FREE, MAX_EXTENTS, NIL, RESERVED, type SlotId, type SlotRecords } from './slot-records.ts';

const NO_EXTENT = -1;

export class SlotAllocator {
  readonly extentCount: number;
  readonly classes: SizeClasses;
  readonly #records: SlotRecords;
  readonly #free: SlotLists;
  /** The extent's class; meaningless while it is free. */
  readonly #classOf: Uint8Array;
  /** Slots in use in each extent; 0 means that the extent is free. */
  readonly #inUse: Uint8Array;
  /** Record of the extent's first slot; for a free extent the next free extent plus one. */
  readonly #first: Int32Array;
  #freeExtent = NO_EXTENT;
  #freeExtents: number;
  /** Extents from here on were never cut. */
  #untouched = 0;
  #freeSlotBytes = 0;

  /** Uses as many whole extents as fit `capacityBytes`; at least one must. */
  constructor(records: SlotRecords, classes: SizeClasses, capacityBytes: number) {
    this.#records = records;
    this.classes = classes;
    this.extentCount = Math.floor(capacityBytes / classes.extentBytes);
    assert(this.extentCount >= 1, 'slot allocator: capacity below one extent');
    assert(this.extentCount <= MAX_EXTENTS, 'slot allocator: capacity too large');
    this.#free = new SlotLists(records, classes.count);
    this.#classOf = new Uint8Array(this.extentCount);
    this.#inUse = new Uint8Array(this.extentCount);
    this.#first = new Int32Array(this.extentCount);
    this.#freeExtents = this.extentCount;
  }

  /** Extents that belong to no class. */
  get freeExtents(): number {
    return this.#freeExtents;
  }

  /** Bytes of free slots in extents that are cut: space that only their own class can use. */
  get freeSlotBytes(): number {
    return this.#freeSlotBytes;
  }

  /** Memory that the extents take, in bytes. */
  get bytes(): number {
    return this.#classOf.byteLength + this.#inUse.byteLength + this.#first.byteLength;
  }

  /** Takes a slot of a class; NIL when the class has none free and no extent is free. Its state is RESERVED. */
  take(sizeClass: number): SlotId {
    let slot = this.#free.head(sizeClass);
    if (slot === NIL) {
      if (!this.#cut(sizeClass)) return NIL;
      slot = this.#free.head(sizeClass);
    }
    this.#free.remove(sizeClass, slot);
    this.#records.setState(slot, RESERVED);
    this.#inUse[this.#records.extent(slot)]!++;
    this.#freeSlotBytes -= this.classes.slotBytes[sizeClass]!;
    return slot;
  }

  /** Takes a slot back; its extent is free again when it was the last one in use. */
  release(slot: SlotId): void {
    const extent = this.#records.extent(slot);
    const sizeClass = this.#classOf[extent]!;
    assert(this.#records.state(slot) !== FREE, 'slot allocator: released a free slot');
    this.#records.setState(slot, FREE);
    this.#free.push(sizeClass, slot);
    this.#freeSlotBytes += this.classes.slotBytes[sizeClass]!;
    const left = --this.#inUse[extent]!;
    if (left === 0) this.#dissolve(extent, sizeClass);
  }

  /** The class of a slot. */
  classOf(slot: SlotId): number {
    return this.#classOf[this.#records.extent(slot)]!;
  }

  /** Where the slot begins in the slab, in bytes. */
  fileOffset(slot: SlotId): number {
    const extent = this.#records.extent(slot);
    const slotBytes = this.classes.slotBytes[this.#classOf[extent]!]!;
    return extent * this.classes.extentBytes + this.#records.place(slot) * slotBytes;
  }

  /** The first record of an extent that is cut, for a walk by `nextInExtent`; NIL when the extent is free. */
  firstOf(extent: number): SlotId {
    return this.#inUse[extent] === 0 ? NIL : this.#first[extent]!;
  }

  /** Cuts a free extent into slots of a class; false when no extent or not enough records are left. */
  #cut(sizeClass: number): boolean {
    const records = this.#records;
    const slots = this.classes.slotsPerExtent[sizeClass]!;
    if (this.#freeExtents === 0 || records.available < slots) return false;
    let extent = this.#freeExtent;
    if (extent === NO_EXTENT) extent = this.#untouched++;
    else this.#freeExtent = this.#first[extent]! - 1;
    this.#freeExtents--;
    // From the last to the first, so that the free list hands them out in the order of the file.
    let following = NIL;
    for (let place = slots - 1; place >= 0; place--) {
      const slot = records.make();
      records.locate(slot, extent, place, following);
      this.#free.push(sizeClass, slot);
      following = slot;
    }
    this.#first[extent] = following;
    this.#classOf[extent] = sizeClass;
    this.#freeSlotBytes += slots * this.classes.slotBytes[sizeClass]!;
    return true;
  }

  #dissolve(extent: number, sizeClass: number): void {
    const records = this.#records;
    let slot = this.#first[extent]!;
    while (slot !== NIL) {
      const next = records.nextInExtent(slot);
      this.#free.remove(sizeClass, slot);
      records.discard(slot);
      slot = next;
    }
    const slots = this.classes.slotsPerExtent[sizeClass]!;
    this.#freeSlotBytes -= slots * this.classes.slotBytes[sizeClass]!;
    this.#first[extent] = this.#freeExtent + 1;
    this.#freeExtent = extent;
    this.#freeExtents++;
  }
}
