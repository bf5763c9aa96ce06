/**
 * Everything this node knows about the members, one record each, and which of it is still news.
 *
 * The table only grows, as its records do (member-record.ts). Records of nodes that left stay: their counters are part of
 * the ring's version. A record that changed is news until it has been sent often enough that all must have heard it; what
 * one misses all the same shows in the digest, and is pulled.
 *
 * Invariants: entries are in order of node id, ids are unique, at most `maxMembers`; `digest` is the sum of the records' hashes,
 * `epoch` that of their places; an entry is in `#news` exactly while it has sends left. Memory: some 200 bytes a member.
 */
import { maxMembers } from '../ring.ts';
import {
  hashPlace,
  hashRecord,
  isRunning,
  recordBytes,
  type MemberRecord,
} from './member-record.ts';
import { sendsOf } from './timing.ts';

export interface MemberEntry {
  record: MemberRecord;
  /** How often it still goes out as news. */
  sendsLeft: number;
  /** When a suspicion ends in down, or being down in the loss of the place; Infinity otherwise. */
  deadline: number;
  /** The grace was extended already, once. */
  isSpared: boolean;
}

export class MemberTable {
  readonly #entries: MemberEntry[] = [];
  #news: MemberEntry[] = [];
  #digest = 0;
  #placesDigest = 0;
  #epoch = 0;

  get size(): number {
    return this.#entries.length;
  }

  /** In order of node id. */
  get entries(): readonly MemberEntry[] {
    return this.#entries;
  }

  /** Equal for equal tables, in whatever order they came to be; different otherwise, but for chance. */
  get digest(): number {
    return this.#digest >>> 0;
  }

  /** The same of places alone. */
  get placesDigest(): number {
    return this.#placesDigest >>> 0;
  }

  /** Sum of all place counters. */
  get epoch(): number {
    return this.#epoch;
  }

  get hasNews(): boolean {
    return this.#news.length > 0;
  }

  /** The entry of a node, or null. */
  find(nodeId: number): MemberEntry | null {
    const entry = this.#entries[this.indexOf(nodeId)];
    return entry?.record.nodeId === nodeId ? entry : null;
  }

  /** The index of the first entry whose node id is not below this. */
  indexOf(nodeId: number): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#entries[middle]!.record.nodeId < nodeId) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Keeps a record in place of the node's present one, as news. Null when the table is full. */
  set(record: MemberRecord): MemberEntry | null {
    const index = this.indexOf(record.nodeId);
    let entry = this.#entries[index];
    if (entry?.record.nodeId === record.nodeId) {
      this.#account(entry.record, -1);
      if (entry.sendsLeft === 0) this.#news.push(entry);
      entry.record = record;
    } else {
      if (this.#entries.length === maxMembers) return null;
      entry = { record, sendsLeft: 0, deadline: Infinity, isSpared: false };
      this.#entries.splice(index, 0, entry);
      this.#news.push(entry);
    }
    entry.sendsLeft = sendsOf(this.#entries.length);
    this.#account(record, 1);
    return entry;
  }

  /**
   * Appends the news that fits into `bytes`, what went out least first, and counts it as sent. A node that `into` has
   * already is left out.
   */
  takeNews(bytes: number, into: MemberRecord[]): void {
    if (this.#news.length === 0) return;
    let room = bytes;
    this.#news.sort((a, b) => b.sendsLeft - a.sendsLeft || a.record.nodeId - b.record.nodeId);
    const told = new Set(into.map((record) => record.nodeId));
    for (const entry of this.#news) {
      const size = recordBytes(entry.record);
      if (size > room) break;
      if (!told.has(entry.record.nodeId)) {
        into.push(entry.record);
        room -= size;
      }
      entry.sendsLeft -= 1;
    }
    this.#news = this.#news.filter((entry) => entry.sendsLeft > 0);
  }

  /** Members that are taken to run, this node left out. */
  running(exceptId: number): MemberEntry[] {
    return this.#entries.filter(({ record }) => record.nodeId !== exceptId && isRunning(record));
  }

  #account(record: MemberRecord, sign: 1 | -1): void {
    this.#digest = (this.#digest + sign * hashRecord(record)) | 0;
    this.#placesDigest = (this.#placesDigest + sign * hashPlace(record)) | 0;
    this.#epoch += sign * record.place;
  }
}
