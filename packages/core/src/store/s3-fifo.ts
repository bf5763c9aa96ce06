/**
 * Which block leaves next: S3-FIFO, three queues of published slots in which nothing moves on a
 * hit.
 *
 * New blocks enter `small` (about a tenth of the bytes) and leave it soon unless they are read
 * there; those that were read move on to `main`. In main, a block that was read since it was last
 * looked at goes round once more, with one read less. Blocks that small turned out too early come
 * back through the ghost queue straight into main (store.ts). A scan thus flows through small and
 * leaves main alone. `disowned` holds blocks that this node no longer owns: they go before all
 * others, however often they are read.
 *
 *   publish ──▶ small ──read, at its end──▶ main ◀── publish of a ghost     any ──ring change──▶ disowned
 *                 └─▶ out, remembered        └─▶ out                                               └─▶ out
 *
 * Pinned blocks can't give their space now, so they are passed over. One call passes over at most
 * MAX_CHANCES blocks on account of their reads: that bounds the time an eviction takes, at a small
 * cost in fairness when everything is hot.
 */
import { NIL, type SlotId, type SlotRecords } from './slot-records.ts';
import { SlotLists } from './slot-lists.ts';

export const SMALL = 0;
export const MAIN = 1;
export const DISOWNED = 2;
/** SMALL, MAIN or DISOWNED. */
export type Queue = 0 | 1 | 2;

const QUEUES = 3;
/** How many reads a block in small needs to move on to main. */
const PROMOTING_READS = 1;
/** How many blocks one eviction may pass over because they were read. */
const MAX_CHANCES = 1024;

export class S3Fifo {
  readonly #records: SlotRecords;
  readonly #lists: SlotLists;
  readonly #bytes = new Float64Array(QUEUES);
  readonly #smallShare: number;

  /** `smallShare` of the bytes in small and main is what small may have before it gives way. */
  constructor(records: SlotRecords, smallShare: number) {
    this.#records = records;
    this.#lists = new SlotLists(records, QUEUES);
    this.#smallShare = smallShare;
  }

  count(queue: Queue): number {
    return this.#lists.count(queue);
  }

  /** Bytes of the blocks in a queue. */
  bytes(queue: Queue): number {
    return this.#bytes[queue]!;
  }

  /** Puts a slot at the head of a queue. */
  add(slot: SlotId, queue: Queue): void {
    this.#records.setQueue(slot, queue);
    this.#lists.push(queue, slot);
    this.#bytes[queue]! += this.#records.length(slot);
  }

  /** Takes a slot out of the queue that it is in. */
  remove(slot: SlotId): void {
    const queue = this.#records.queue(slot);
    this.#lists.remove(queue, slot);
    this.#bytes[queue]! -= this.#records.length(slot);
  }

  /**
   * The block that leaves next, NIL when all are pinned. It stays in its queue; others may move.
   */
  victim(): SlotId {
    let victim = this.#unpinnedTail(DISOWNED);
    const isSmallDue =
      this.#bytes[SMALL]! > this.#smallShare * (this.#bytes[SMALL]! + this.#bytes[MAIN]!);
    if (victim === NIL && isSmallDue) victim = this.#victimOfSmall();
    if (victim === NIL) victim = this.#victimOfMain();
    if (victim === NIL) victim = this.#victimOfSmall();
    // What small promoted just now.
    if (victim === NIL) victim = this.#victimOfMain();
    return victim;
  }

  #victimOfSmall(): SlotId {
    for (let chances = 0; chances < MAX_CHANCES; chances++) {
      const slot = this.#unpinnedTail(SMALL);
      if (slot === NIL) return NIL;
      const reads = this.#records.reads(slot);
      if (reads < PROMOTING_READS) return slot;
      this.remove(slot);
      this.#records.setReads(slot, reads - PROMOTING_READS);
      this.add(slot, MAIN);
    }
    return NIL;
  }

  #victimOfMain(): SlotId {
    for (let chances = 0; ; chances++) {
      const slot = this.#unpinnedTail(MAIN);
      if (slot === NIL) return NIL;
      const reads = this.#records.reads(slot);
      if (reads === 0 || chances === MAX_CHANCES) return slot;
      this.#records.setReads(slot, reads - 1);
      this.#lists.remove(MAIN, slot);
      this.#lists.push(MAIN, slot);
    }
  }

  /** The oldest slot without pins; pinned ones before it go round. NIL when all are pinned. */
  #unpinnedTail(queue: Queue): SlotId {
    for (let left = this.#lists.count(queue); left > 0; left--) {
      const slot = this.#lists.tail(queue);
      if (this.#records.pins(slot) === 0) return slot;
      this.#lists.remove(queue, slot);
      this.#lists.push(queue, slot);
    }
    return NIL;
  }
}
