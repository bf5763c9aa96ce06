/**
 * Where in the slab each slot lies: extents, each cut into slots of one size class.
 *
 * An extent without a slot in use belongs to no class; whoever needs slots next cuts it anew. That
 * is how space moves between classes as demand shifts: store.ts empties an extent, and it is free
 * for any class. The records of an extent form a circle; a free extent that was cut before keeps
 * one of them, to be found by.
 *
 * After a restart slots are claimed one by one at the places where their blocks lie, and the rest is made up around them.
 *
 * Invariants: slots don't overlap and lie in the slab; an extent that is cut has at least one slot
 * in use; each free slot is in its class's list. Memory: 2 bytes an extent.
 */
import { assert } from '../base/assert.ts';
import type { SizeClasses } from './size-classes.ts';
import { SlotLists } from './slot-lists.ts';
import {
  FREE,
  MAX_EXTENTS,
  MAX_SLOTS_PER_EXTENT,
  NIL,
  RESERVED,
  type SlotId,
  type SlotRecords,
} from './slot-records.ts';

/** How much larger than its own class's a slot may be that a block makes do with. */
const LARGER_SHARE = 1.5;

export class SlotAllocator {
  readonly extentCount: number;
  readonly classes: SizeClasses;
  readonly #records: SlotRecords;
  /** Free slots of each class, and last a list of the records that free extents keep. */
  readonly #free: SlotLists;
  readonly #freeExtentList: number;
  /** The extent's class; meaningless while it is free. */
  readonly #classOf: Uint8Array;
  /** Slots in use in each extent; 0 means that the extent is free. */
  readonly #inUse: Uint8Array;
  /** Extents from here on were never cut. */
  #untouched = 0;
  #freeSlotBytes = 0;
  /** While slots are claimed: the last one claimed in each extent; the others are chained behind it. */
  #claimed: Int32Array | null = null;

  /** Uses as many whole extents as fit `capacityBytes`; at least one must. */
  constructor(records: SlotRecords, classes: SizeClasses, capacityBytes: number) {
    this.#records = records;
    this.classes = classes;
    this.extentCount = Math.floor(capacityBytes / classes.extentBytes);
    assert(this.extentCount >= 1, 'slot allocator: capacity below one extent');
    assert(this.extentCount <= MAX_EXTENTS, 'slot allocator: capacity too large');
    this.#free = new SlotLists(records, classes.count + 1);
    this.#freeExtentList = classes.count;
    this.#classOf = new Uint8Array(this.extentCount);
    this.#inUse = new Uint8Array(this.extentCount);
  }

  /** Extents that belong to no class. */
  get freeExtents(): number {
    return this.#free.count(this.#freeExtentList) + this.extentCount - this.#untouched;
  }

  /** Bytes of free slots in extents that are cut: space that only their own class can use. */
  get freeSlotBytes(): number {
    return this.#freeSlotBytes;
  }

  /** Memory that the extents take, in bytes. */
  get bytes(): number {
    return this.#classOf.byteLength + this.#inUse.byteLength;
  }

  /**
   * Takes a slot of a class; NIL when the class has none free and no extent is free. Its state is
   * RESERVED.
   */
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

  /**
   * The same, but makes do with a free slot of a class up to half as large again before it gives
   * up: the space would lie idle, and space for the exact class would have to be taken from blocks.
   */
  takeOrLarger(sizeClass: number): SlotId {
    const slot = this.take(sizeClass);
    if (slot !== NIL) return slot;
    const { slotBytes } = this.classes;
    const largest = slotBytes[sizeClass]! * LARGER_SHARE;
    for (let larger = sizeClass + 1; larger < slotBytes.length; larger++) {
      if (slotBytes[larger]! > largest) return NIL;
      if (this.#free.count(larger) > 0) return this.take(larger);
    }
    return NIL;
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
    if (left === 0) this.#dissolve(slot, sizeClass);
  }

  /**
   * Gives a record of no extent yet the place where its block lies: state RESERVED. False when the extent has another class, or
   * its only place is taken. Only before any slot was taken; `finishClaims` ends it.
   */
  claim(slot: SlotId, extent: number, place: number, sizeClass: number): boolean {
    assert(this.#untouched === 0, 'slot allocator: claims come first');
    this.#claimed ??= new Int32Array(this.extentCount);
    const before = this.#claimed[extent]!;
    const isAlone = this.classes.slotsPerExtent[sizeClass] === 1;
    if (before !== NIL && (isAlone || this.#classOf[extent] !== sizeClass)) return false;
    this.#claimed[extent] = slot;
    this.#classOf[extent] = sizeClass;
    this.#records.locate(slot, extent, place, isAlone ? slot : before);
    this.#records.setState(slot, RESERVED);
    return true;
  }

  /**
   * After the last claim: cuts the extents that have claimed slots, each around them. Slots that claim one place are all given up:
   * `refused` is told, before they are free.
   */
  finishClaims(refused: (slot: SlotId) => void): void {
    const records = this.#records;
    const claimed = this.#claimed;
    this.#claimed = null;
    records.discardFree();
    if (claimed === null) return;
    let end = this.extentCount;
    while (end > 0 && claimed[end - 1] === NIL) end--;
    this.#untouched = end;
    const places = new Int32Array(MAX_SLOTS_PER_EXTENT);
    for (let extent = 0; extent < end; extent++) {
      const last = claimed[extent]!;
      const sizeClass = this.#classOf[extent]!;
      if (last === NIL) this.#leaveFree(extent);
      else if (this.classes.slotsPerExtent[sizeClass] === 1) this.#inUse[extent] = 1;
      else this.#cutAround(last, extent, sizeClass, places, refused);
    }
  }

  /** The class of a slot. */
  classOf(slot: SlotId): number {
    return this.#classOf[this.#records.extent(slot)]!;
  }

  /** Bytes that slots of a slot's class have. */
  slotBytes(slot: SlotId): number {
    return this.classes.slotBytes[this.classOf(slot)]!;
  }

  /** Where the slot begins in the slab, in bytes. */
  fileOffset(slot: SlotId): number {
    const extent = this.#records.extent(slot);
    const slotBytes = this.classes.slotBytes[this.#classOf[extent]!]!;
    return extent * this.classes.extentBytes + this.#records.place(slot) * slotBytes;
  }

  /**
   * Cuts a free extent into slots of a class; false when no extent or not enough records are left.
   */
  #cut(sizeClass: number): boolean {
    const records = this.#records;
    const slots = this.classes.slotsPerExtent[sizeClass]!;
    if (records.available < slots) return false;
    let first = this.#free.head(this.#freeExtentList);
    let extent: number;
    if (first !== NIL) {
      this.#free.remove(this.#freeExtentList, first);
      extent = records.extent(first);
    } else if (this.#untouched < this.extentCount) {
      first = records.make();
      extent = this.#untouched++;
    } else {
      return false;
    }
    // From the last to the first, so that the free list hands them out in the order of the file.
    let following = first;
    for (let place = slots - 1; place > 0; place--) {
      const slot = records.make();
      records.locate(slot, extent, place, following);
      this.#free.push(sizeClass, slot);
      following = slot;
    }
    records.locate(first, extent, 0, following);
    this.#free.push(sizeClass, first);
    this.#classOf[extent] = sizeClass;
    this.#freeSlotBytes += slots * this.classes.slotBytes[sizeClass]!;
    return true;
  }

  /** An extent between others that nothing was claimed in. */
  #leaveFree(extent: number): void {
    const kept = this.#records.make();
    assert(kept !== NIL, 'slot allocator: fewer records than extents');
    this.#records.locate(kept, extent, 0, kept);
    this.#free.push(this.#freeExtentList, kept);
  }

  /** Cuts an extent in which the slots chained from `last` on are in use. `places` is room to work in. */
  #cutAround(
    last: SlotId,
    extent: number,
    sizeClass: number,
    places: Int32Array,
    refused: (slot: SlotId) => void,
  ): void {
    const records = this.#records;
    const slots = this.classes.slotsPerExtent[sizeClass]!;
    places.fill(NIL);
    let inUse = 0;
    let next: SlotId;
    for (let slot = last; slot !== NIL; slot = next) {
      next = records.nextInExtent(slot);
      const place = records.place(slot);
      if (places[place] === NIL) {
        places[place] = slot;
        inUse++;
        continue;
      }
      // Neither is believed: the second is given up here, the first once it is known who else claims its place.
      const first = places[place]!;
      if (records.state(first) === RESERVED) {
        this.#refuse(first, refused);
        inUse--;
      }
      this.#refuse(slot, refused);
      records.discard(slot);
    }
    let following = NIL;
    let end = NIL;
    for (let place = slots - 1; place >= 0; place--) {
      let slot = places[place]!;
      const isFree = slot === NIL || records.state(slot) === FREE;
      if (slot === NIL) slot = records.make();
      assert(slot !== NIL, 'slot allocator: fewer records than slots');
      if (isFree) {
        records.locate(slot, extent, place, following);
        this.#free.push(sizeClass, slot);
        this.#freeSlotBytes += this.classes.slotBytes[sizeClass]!;
      } else {
        records.setNextInExtent(slot, following);
      }
      if (end === NIL) end = slot;
      following = slot;
    }
    records.setNextInExtent(end, following);
    this.#inUse[extent] = inUse;
    if (inUse === 0) this.#dissolve(end, sizeClass);
  }

  #refuse(slot: SlotId, refused: (slot: SlotId) => void): void {
    refused(slot);
    this.#records.setState(slot, FREE);
  }

  /** Makes an extent free. `kept` is the record of its last slot in use. */
  #dissolve(kept: SlotId, sizeClass: number): void {
    const records = this.#records;
    let slot = records.nextInExtent(kept);
    while (slot !== kept) {
      const next = records.nextInExtent(slot);
      this.#free.remove(sizeClass, slot);
      records.discard(slot);
      slot = next;
    }
    this.#free.remove(sizeClass, kept);
    this.#free.push(this.#freeExtentList, kept);
    const slots = this.classes.slotsPerExtent[sizeClass]!;
    this.#freeSlotBytes -= slots * this.classes.slotBytes[sizeClass]!;
  }
}
