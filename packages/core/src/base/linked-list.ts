/**
 * A doubly linked list whose links live in the records themselves, so that appending and removing allocate nothing.
 *
 * Invariant: a record is in at most one list at a time, and knows which.
 */
import { assert } from './assert.ts';

export interface Linked<T extends Linked<T>> {
  list: LinkedList<T> | null;
  before: T | null;
  after: T | null;
}

export class LinkedList<T extends Linked<T>> {
  first: T | null = null;
  last: T | null = null;
  size = 0;

  /** Puts a record that is in no list at the end. */
  append(record: T): void {
    assert(record.list === null, 'a record joins one list at a time');
    record.list = this;
    record.before = this.last;
    record.after = null;
    if (this.last === null) this.first = record;
    else this.last.after = record;
    this.last = record;
    this.size += 1;
  }

  /** Takes a record of this list out. */
  remove(record: T): void {
    assert(record.list === this, 'a record leaves the list that it is in');
    if (record.before === null) this.first = record.after;
    else record.before.after = record.after;
    if (record.after === null) this.last = record.before;
    else record.after.before = record.before;
    record.list = null;
    record.before = null;
    record.after = null;
    this.size -= 1;
  }

  /** Puts a record that is in no list in the place of one that is in this list. */
  replace(record: T, by: T): void {
    assert(record.list === this && by.list === null, 'a record joins one list at a time');
    by.list = this;
    by.before = record.before;
    by.after = record.after;
    if (by.before === null) this.first = by;
    else by.before.after = by;
    if (by.after === null) this.last = by;
    else by.after.before = by;
    record.list = null;
    record.before = null;
    record.after = null;
  }

  /** Takes the oldest record out, null when there is none. */
  shift(): T | null {
    const record = this.first;
    if (record !== null) this.remove(record);
    return record;
  }
}
