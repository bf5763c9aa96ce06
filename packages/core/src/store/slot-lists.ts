/**
 * Doubly linked lists of slots over the two link words of their records: eviction queues and free
 * lists.
 *
 * A slot is in one list at most, so one pair of links serves them all. Every operation is O(1), and
 * lists cost nothing beyond their ends.
 */
import { NIL, type SlotId, type SlotRecords } from './slot-records.ts';

export class SlotLists {
  readonly #records: SlotRecords;
  readonly #heads: Int32Array;
  readonly #tails: Int32Array;
  readonly #counts: Int32Array;

  constructor(records: SlotRecords, lists: number) {
    this.#records = records;
    this.#heads = new Int32Array(lists);
    this.#tails = new Int32Array(lists);
    this.#counts = new Int32Array(lists);
  }

  /** The slot that was pushed first, NIL when the list is empty. */
  tail(list: number): SlotId {
    return this.#tails[list]!;
  }

  /** The slot that was pushed last, NIL when the list is empty. */
  head(list: number): SlotId {
    return this.#heads[list]!;
  }

  count(list: number): number {
    return this.#counts[list]!;
  }

  /** Adds a slot at the head. */
  push(list: number, slot: SlotId): void {
    const records = this.#records;
    const head = this.#heads[list]!;
    records.setPrevious(slot, NIL);
    records.setNext(slot, head);
    if (head === NIL) this.#tails[list] = slot;
    else records.setPrevious(head, slot);
    this.#heads[list] = slot;
    this.#counts[list]!++;
  }

  /** Takes a slot out, wherever in the list it is. */
  remove(list: number, slot: SlotId): void {
    const records = this.#records;
    const previous = records.previous(slot);
    const next = records.next(slot);
    if (previous === NIL) this.#heads[list] = next;
    else records.setNext(previous, next);
    if (next === NIL) this.#tails[list] = previous;
    else records.setPrevious(next, previous);
    this.#counts[list]!--;
  }
}
