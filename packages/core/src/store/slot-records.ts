/**
 * What the store knows of each slot: one record of 48 bytes, twelve int32 words that lie together.
 *
 * Words of one record share a cache line or two, so finding, touching and evicting a block each
 * cost about one access to memory. Records live in segments that are added as slots are made: a
 * cache of large blocks never pays for the many records that a cache of small ones needs, and
 * growing never copies. Segments are cut from pieces of memory, as large as huge pages need once there are many.
 *
 *   0–3  version, all 128 bits          6–7  placement, high and low half
 *   4    block index (24 bits), reads counted (2), state (2), queue (2), recorded (1), trusted (1)
 *   5    bytes − 1 (20 bits), pins (12)
 *   8    extent (24 bits), place in the extent (8)
 *   9, 10  neighbours in the one list that the slot is in: a free list or an eviction queue
 *   11   the next record of the same extent: they form a circle
 *
 * Slot 0 is no slot: zeroed memory then means empty, in records, lists and index alike.
 *
 * The state of a slot, and who moves it (all in store.ts):
 *
 *   free ──reserve──▶ reserved ──publish──▶ published ──evict, remove──▶ free
 *     ▲                  │ cancel                │ evict, remove while pinned
 *     └──────────────────┘                       ▼
 *     └────────────── last unpin ──────────── leaving
 */
import { assert } from '../base/assert.ts';
import type { Hash128 } from '../base/hash.ts';
import { plainMemory, type AllocateMemory } from '../base/memory.ts';

/** The store's name for a slot: positive, below MAX_SLOTS. */
export type SlotId = number;

/** No slot, inside store/. The door (store.ts) says -1 instead. */
export const NIL = 0;

/** The most slots: the index keeps 26 bits for them. 3 GiB of records. */
export const MAX_SLOTS = 1 << 26;
/** The most blocks of one object. */
export const MAX_BLOCK_INDEX = (1 << 24) - 1;
/** The most extents of one store. */
export const MAX_EXTENTS = 1 << 24;
/** The most slots in an extent. */
export const MAX_SLOTS_PER_EXTENT = 255;
/** The largest block, in bytes. */
export const MAX_BLOCK_BYTES = 1 << 20;

export const FREE = 0;
export const RESERVED = 1;
export const PUBLISHED = 2;
export const LEAVING = 3;
/** What a slot is for at the moment: FREE, RESERVED, PUBLISHED or LEAVING. */
export type SlotState = 0 | 1 | 2 | 3;

const WORDS = 12;
const SEGMENT_BITS = 14;
const SEGMENT_SLOTS = 1 << SEGMENT_BITS;
const SEGMENT_MASK = SEGMENT_SLOTS - 1;
const SEGMENT_BYTES = SEGMENT_SLOTS * WORDS * 4;
/** Pieces grow up to 24 MiB. */
const MAX_PIECE_SEGMENTS = 32;

const BLOCK_MASK = 0xff_ffff;
const READS_SHIFT = 24;
const STATE_SHIFT = 26;
const QUEUE_SHIFT = 28;
/** Its row in the slot table isn't empty, or soon won't be. The bit outlives the block and even the slot's place. */
const RECORDED = 1 << 30;
/** The block's bytes are known to be what they were when they were stored. */
const TRUSTED = 1 << 31;
const LENGTH_MASK = 0xf_ffff;
const PINS_SHIFT = 20;
/** Pins beyond this stand in a map: hardly ever does one block have more readers at once. */
const MAX_INLINE_PINS = 0xfff;

export class SlotRecords {
  readonly #allocate: AllocateMemory;
  readonly #segments: Int32Array[] = [];
  /** What the next segments are cut from, and where. */
  #piece = new ArrayBuffer(0);
  #cut = 0;
  /** Records below this number have been made. */
  #made = 1;
  /** Records that belong to no extent now, chained through the list word. */
  #spare = NIL;
  #spareCount = 0;
  readonly #extraPins = new Map<SlotId, number>();

  constructor(allocate: AllocateMemory = plainMemory) {
    this.#allocate = allocate;
  }

  /** One more than the highest slot that ever was: for walks over all slots. */
  get end(): SlotId {
    return this.#made;
  }

  /** Records that belong to a slot now. */
  get count(): number {
    return this.#made - 1 - this.#spareCount;
  }

  /** Memory that the records take, in bytes. */
  get bytes(): number {
    return this.#segments.length * SEGMENT_BYTES;
  }

  /** Takes a record for a new slot; NIL when there are MAX_SLOTS. */
  make(): SlotId {
    if (this.#spare !== NIL) {
      const slot = this.#spare;
      this.#spare = this.next(slot);
      this.#spareCount--;
      return slot;
    }
    if (this.#made === MAX_SLOTS) return NIL;
    const slot = this.#made++;
    if (slot >>> SEGMENT_BITS === this.#segments.length) this.#addSegment();
    return slot;
  }

  /** Makes sure that there is a record of this number, and of all below it; their slots are free and belong to no extent. */
  makeUpTo(slot: SlotId): void {
    assert(slot > NIL && slot < MAX_SLOTS, 'slot records: no such slot');
    while (this.#segments.length <= slot >>> SEGMENT_BITS) this.#addSegment();
    this.#made = Math.max(this.#made, slot + 1);
  }

  /** How many more records `make` can give. */
  get available(): number {
    return MAX_SLOTS - this.#made + this.#spareCount;
  }

  /** Gives back the record of a free slot whose extent is being dissolved. */
  discard(slot: SlotId): void {
    assert(this.state(slot) === FREE, 'slot records: discarded a slot in use');
    this.setNext(slot, this.#spare);
    this.#spare = slot;
    this.#spareCount++;
  }

  /** Gives back every free record, none of which belongs to an extent: after claims. Low numbers are handed out first. */
  discardFree(): void {
    for (let slot = this.#made - 1; slot > NIL; slot--) {
      if (this.state(slot) === FREE) this.discard(slot);
    }
  }

  /** Whether the slot's record is of exactly this block: all 128 bits and the index. */
  isOf(slot: SlotId, version: Readonly<Hash128>, block: number): boolean {
    const words = this.#segments[slot >>> SEGMENT_BITS]!;
    const at = (slot & SEGMENT_MASK) * WORDS;
    return (
      words[at] === (version.h0 | 0) &&
      words[at + 1] === (version.h1 | 0) &&
      words[at + 2] === (version.h2 | 0) &&
      words[at + 3] === (version.h3 | 0) &&
      (words[at + 4]! & BLOCK_MASK) === block
    );
  }

  /** Whether two slots' records are of the same block. */
  haveOneBlock(one: SlotId, other: SlotId): boolean {
    const words = this.#segments[one >>> SEGMENT_BITS]!;
    const at = (one & SEGMENT_MASK) * WORDS;
    const otherWords = this.#segments[other >>> SEGMENT_BITS]!;
    const otherAt = (other & SEGMENT_MASK) * WORDS;
    for (let word = 0; word < 4; word++) {
      if (words[at + word] !== otherWords[otherAt + word]) return false;
    }
    return ((words[at + 4]! ^ otherWords[otherAt + 4]!) & BLOCK_MASK) === 0;
  }

  /** Writes who the slot is for: state RESERVED, no reads, no pins. */
  assign(
    slot: SlotId,
    version: Readonly<Hash128>,
    block: number,
    placementHi: number,
    placementLo: number,
    length: number,
  ): void {
    const words = this.#segments[slot >>> SEGMENT_BITS]!;
    const at = (slot & SEGMENT_MASK) * WORDS;
    words[at] = version.h0;
    words[at + 1] = version.h1;
    words[at + 2] = version.h2;
    words[at + 3] = version.h3;
    words[at + 4] = block | (RESERVED << STATE_SHIFT) | (words[at + 4]! & RECORDED);
    words[at + 5] = length - 1;
    words[at + 6] = placementHi;
    words[at + 7] = placementLo;
  }

  /** One of the version's four words, as an int32. */
  versionWord(slot: SlotId, word: 0 | 1 | 2 | 3): number {
    return this.#word(slot, word);
  }

  block(slot: SlotId): number {
    return this.#word(slot, 4) & BLOCK_MASK;
  }

  /** Reads since the block was published or last passed over by eviction: 0 to 3. */
  reads(slot: SlotId): number {
    return (this.#word(slot, 4) >>> READS_SHIFT) & 3;
  }

  setReads(slot: SlotId, reads: number): void {
    this.#setBits(slot, READS_SHIFT, reads);
  }

  /** Counts a read, up to 3. */
  countRead(slot: SlotId): void {
    const words = this.#segments[slot >>> SEGMENT_BITS]!;
    const at = (slot & SEGMENT_MASK) * WORDS + 4;
    const word = words[at]!;
    if (((word >>> READS_SHIFT) & 3) !== 3) words[at] = word + (1 << READS_SHIFT);
  }

  state(slot: SlotId): SlotState {
    return ((this.#word(slot, 4) >>> STATE_SHIFT) & 3) as SlotState;
  }

  setState(slot: SlotId, state: SlotState): void {
    this.#setBits(slot, STATE_SHIFT, state);
  }

  /** Which of the eviction queues a published slot is in: 0 to 3. */
  queue(slot: SlotId): number {
    return (this.#word(slot, 4) >>> QUEUE_SHIFT) & 3;
  }

  setQueue(slot: SlotId, queue: number): void {
    this.#setBits(slot, QUEUE_SHIFT, queue);
  }

  isRecorded(slot: SlotId): boolean {
    return (this.#word(slot, 4) & RECORDED) !== 0;
  }

  setRecorded(slot: SlotId, isRecorded: boolean): void {
    const word = this.#word(slot, 4);
    this.#setWord(slot, 4, isRecorded ? word | RECORDED : word & ~RECORDED);
  }

  isTrusted(slot: SlotId): boolean {
    return (this.#word(slot, 4) & TRUSTED) !== 0;
  }

  setTrusted(slot: SlotId): void {
    this.#setWord(slot, 4, this.#word(slot, 4) | TRUSTED);
  }

  /** Bytes of the block in the slot. */
  length(slot: SlotId): number {
    return (this.#word(slot, 5) & LENGTH_MASK) + 1;
  }

  pins(slot: SlotId): number {
    const inline = this.#word(slot, 5) >>> PINS_SHIFT;
    if (inline < MAX_INLINE_PINS) return inline;
    return inline + (this.#extraPins.get(slot) ?? 0);
  }

  addPin(slot: SlotId): void {
    const word = this.#word(slot, 5);
    if (word >>> PINS_SHIFT < MAX_INLINE_PINS) {
      this.#setWord(slot, 5, word + (1 << PINS_SHIFT));
    } else {
      this.#extraPins.set(slot, (this.#extraPins.get(slot) ?? 0) + 1);
    }
  }

  removePin(slot: SlotId): void {
    const word = this.#word(slot, 5);
    const inline = word >>> PINS_SHIFT;
    assert(inline > 0, 'slot records: unpinned what is not pinned');
    const extra = inline < MAX_INLINE_PINS ? 0 : (this.#extraPins.get(slot) ?? 0);
    if (extra === 0) this.#setWord(slot, 5, word - (1 << PINS_SHIFT));
    else if (extra === 1) this.#extraPins.delete(slot);
    else this.#extraPins.set(slot, extra - 1);
  }

  /** High half of the placement, as a u32. */
  placementHi(slot: SlotId): number {
    return this.#word(slot, 6) >>> 0;
  }

  /** Low half of the placement, as a u32. */
  placementLo(slot: SlotId): number {
    return this.#word(slot, 7) >>> 0;
  }

  extent(slot: SlotId): number {
    return this.#word(slot, 8) >>> 8;
  }

  /** Place in the extent, from 0. */
  place(slot: SlotId): number {
    return this.#word(slot, 8) & 0xff;
  }

  /** Writes where a new, free slot lies and which record follows in its extent. */
  locate(slot: SlotId, extent: number, place: number, nextInExtent: SlotId): void {
    const words = this.#segments[slot >>> SEGMENT_BITS]!;
    const at = (slot & SEGMENT_MASK) * WORDS;
    words[at + 4]! &= RECORDED;
    words[at + 5] = 0;
    words[at + 8] = (extent << 8) | place;
    words[at + 11] = nextInExtent;
  }

  nextInExtent(slot: SlotId): SlotId {
    return this.#word(slot, 11);
  }

  setNextInExtent(slot: SlotId, next: SlotId): void {
    this.#setWord(slot, 11, next);
  }

  previous(slot: SlotId): SlotId {
    return this.#word(slot, 9);
  }

  setPrevious(slot: SlotId, previous: SlotId): void {
    this.#setWord(slot, 9, previous);
  }

  next(slot: SlotId): SlotId {
    return this.#word(slot, 10);
  }

  setNext(slot: SlotId, next: SlotId): void {
    this.#setWord(slot, 10, next);
  }

  #addSegment(): void {
    if (this.#cut === this.#piece.byteLength) {
      const segments = Math.min(Math.max(1, this.#segments.length), MAX_PIECE_SEGMENTS);
      this.#piece = this.#allocate(segments * SEGMENT_BYTES);
      this.#cut = 0;
    }
    this.#segments.push(new Int32Array(this.#piece, this.#cut, SEGMENT_SLOTS * WORDS));
    this.#cut += SEGMENT_BYTES;
  }

  #word(slot: SlotId, word: number): number {
    return this.#segments[slot >>> SEGMENT_BITS]![(slot & SEGMENT_MASK) * WORDS + word]!;
  }

  #setWord(slot: SlotId, word: number, value: number): void {
    this.#segments[slot >>> SEGMENT_BITS]![(slot & SEGMENT_MASK) * WORDS + word] = value;
  }

  #setBits(slot: SlotId, shift: number, value: number): void {
    const word = this.#word(slot, 4);
    this.#setWord(slot, 4, (word & ~(3 << shift)) | (value << shift));
  }
}
