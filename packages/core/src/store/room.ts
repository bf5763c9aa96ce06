/**
 * Makes room for a slot of a class by evicting.
 *
 * A victim of another class frees a slot that only its own class can use. A few of those are no loss, since their class will want
 * them; then it is time to move an extent from one class to another, and of those that victims have just left the one whose
 * blocks are worth least is emptied.
 */
import type { S3Fifo } from './s3-fifo.ts';
import { MAIN } from './s3-fifo.ts';
import type { SlotAllocator } from './slot-allocator.ts';
import { FREE, NIL, PUBLISHED, type SlotId, type SlotRecords } from './slot-records.ts';

/** Victims of one reservation before it empties the cheapest extent that they left. */
const MAX_VICTIMS = 32;
/**
 * Bytes of free slots in other classes, as a share of the capacity, past which it empties an extent
 * at once.
 */
const SLACK_SHARE = 1 / 64;
/** Small caches need more slack to have any of each class: this many extents, up to this share. */
const MIN_SLACK_EXTENTS = 16;
const MAX_SLACK_SHARE = 1 / 8;
/**
 * What a byte counts that was read, or is in main, when extents are compared; one that wasn't
 * counts 1.
 */
const WORTH_OF_READ = 8;

/** Takes a block out, because its turn had come (`isDue`) or its extent is wanted. */
type Evict = (slot: SlotId, isDue: boolean) => void;

export class Room {
  readonly #records: SlotRecords;
  readonly #allocator: SlotAllocator;
  readonly #queues: S3Fifo;
  readonly #evict: Evict;
  readonly #slackBytes: number;

  constructor(records: SlotRecords, allocator: SlotAllocator, queues: S3Fifo, evict: Evict) {
    this.#records = records;
    this.#allocator = allocator;
    this.#queues = queues;
    this.#evict = evict;
    const { extentBytes } = allocator.classes;
    const capacityBytes = allocator.extentCount * extentBytes;
    this.#slackBytes = Math.max(
      capacityBytes * SLACK_SHARE,
      Math.min(capacityBytes * MAX_SLACK_SHARE, extentBytes * MIN_SLACK_EXTENTS),
    );
  }

  /** Evicts until the class has a slot, and takes it; NIL when nothing more can leave. */
  make(sizeClass: number): SlotId {
    let cheapest: SlotId = NIL;
    let leastWorth = Infinity;
    for (let victims = 1; ; victims++) {
      const victim = this.#queues.victim();
      if (victim === NIL) return NIL;
      this.#evict(victim, true);
      let slot = this.#allocator.takeOrLarger(sizeClass);
      if (slot !== NIL) return slot;
      const worth = this.#worthBeside(victim, leastWorth);
      if (worth < leastWorth) {
        cheapest = victim;
        leastWorth = worth;
      }
      const isEnough = victims >= MAX_VICTIMS || this.#allocator.freeSlotBytes > this.#slackBytes;
      if (isEnough && cheapest !== NIL) {
        this.#evictBeside(cheapest);
        slot = this.#allocator.take(sizeClass);
        if (slot !== NIL) return slot;
        cheapest = NIL;
        leastWorth = Infinity;
      }
    }
  }

  /**
   * What the blocks in a free slot's extent are worth; Infinity when it is `limit` or more, or one
   * of them can't go.
   */
  #worthBeside(free: SlotId, limit: number): number {
    const records = this.#records;
    let worth = 0;
    let slot = records.nextInExtent(free);
    for (; slot !== free && worth < limit; slot = records.nextInExtent(slot)) {
      const state = records.state(slot);
      if (state === FREE) continue;
      if (state !== PUBLISHED || records.pins(slot) > 0) return Infinity;
      const isRead = records.queue(slot) === MAIN || records.reads(slot) > 0;
      worth += records.length(slot) * (isRead ? WORTH_OF_READ : 1);
    }
    return worth < limit ? worth : Infinity;
  }

  /** Evicts all blocks in a free slot's extent, so that any class can have it. */
  #evictBeside(free: SlotId): void {
    const records = this.#records;
    // The last block to leave dissolves the extent; the circle stays readable until the extent is
    // cut anew.
    let slot = records.nextInExtent(free);
    while (slot !== free) {
      const next = records.nextInExtent(slot);
      if (records.state(slot) === PUBLISHED) this.#evict(slot, false);
      slot = next;
    }
  }
}
