/**
 * The sizes that slots come in: for each number of slots that an extent can have, the largest
 * multiple of 4 KiB that fits that many times.
 *
 * No other table leaves less unused at an extent's end. For extents of 1 MiB it has 31 classes:
 * every multiple of 4 KiB up to 76 KiB, then 84, 92, 100, 112, 128, 144, 168, 204, 256, 340 and 512
 * KiB and 1 MiB. With block lengths spread evenly by logarithm from 32 KiB to 1 MiB, a mean 12.3%
 * of a slot stays unused (13.0% of an extent, with its end). Larger extents would waste less and
 * were tried: with 2 MiB, every move between classes evicts more, and hit ratios fell.
 */
import { assert } from '../base/assert.ts';
import { MAX_BLOCK_BYTES, MAX_SLOTS_PER_EXTENT } from './slot-records.ts';

/** Slots begin and end at multiples of this, as O_DIRECT asks. */
const SLOT_ALIGNMENT = 4096;

export class SizeClasses {
  /** Bytes of an extent: the largest block, rounded up to whole pages. */
  readonly extentBytes: number;
  /** Bytes of a slot of each class, ascending. */
  readonly slotBytes: readonly number[];
  /** Slots that an extent of each class has. */
  readonly slotsPerExtent: readonly number[];
  readonly #classOfPages: Uint8Array;

  /** For blocks of 1 to `largestBytes` bytes, 1 MiB at most. */
  constructor(largestBytes: number) {
    assert(largestBytes >= 1 && largestBytes <= MAX_BLOCK_BYTES, 'size classes: block too large');
    const extentPages = Math.ceil(largestBytes / SLOT_ALIGNMENT);
    const pages: number[] = [];
    for (let slots = 1; slots <= Math.min(extentPages, MAX_SLOTS_PER_EXTENT); slots++) {
      const each = Math.floor(extentPages / slots);
      if (each !== pages.at(-1)) pages.push(each);
    }
    pages.reverse();
    this.extentBytes = extentPages * SLOT_ALIGNMENT;
    this.slotBytes = pages.map((each) => each * SLOT_ALIGNMENT);
    this.slotsPerExtent = pages.map((each) =>
      Math.min(Math.floor(extentPages / each), MAX_SLOTS_PER_EXTENT),
    );
    this.#classOfPages = new Uint8Array(extentPages + 1);
    for (let each = 1, sizeClass = 0; each <= extentPages; each++) {
      if (each > pages[sizeClass]!) sizeClass++;
      this.#classOfPages[each] = sizeClass;
    }
  }

  get count(): number {
    return this.slotBytes.length;
  }

  /** The class whose slots have exactly so many bytes, -1 when there is none. */
  classWithSlots(bytes: number): number {
    const pages = bytes / SLOT_ALIGNMENT;
    const sizeClass = this.#classOfPages[pages] ?? -1;
    return this.slotBytes[sizeClass] === bytes ? sizeClass : -1;
  }

  /** The class with the smallest slots that hold `bytes`. */
  classOf(bytes: number): number {
    const pages = Math.ceil(bytes / SLOT_ALIGNMENT);
    assert(pages >= 1 && pages < this.#classOfPages.length, 'size classes: size out of range');
    return this.#classOfPages[pages]!;
  }
}
