/**
 * Puts the rows of a slot table back into an empty store, before the node serves.
 *
 * The driver hands over the table's rows, piece by piece from row 1 on. A row is restored if its check fits and its place is one
 * that the store has; it is trusted if its run ended clean. Rows that lie beyond a capacity that shrank or beyond the end of a
 * slab that was cut, or that contradict others, are cleared by the journal before any space is written to. Damaged rows can't
 * come to life again; they stay until their slot is used.
 *
 * Cost: rows are read in order; each takes one random access to the index (recovery.bench.ts).
 */
import { assert } from '../base/assert.ts';
import { newBlockPlace } from '../store/block-place.ts';
import type { SlotId, Store } from '../store/store.ts';
import { decodeRecord, recordSeed, RECORD_WORDS, type RowClaim } from './slot-record.ts';
import { endedClean, type TableHeader } from './table-header.ts';

/** What became of the rows that weren't empty. */
export interface RecoveryCounts {
  /** Blocks that the store has again, and those among them that are served without being verified. */
  restored: number;
  trusted: number;
  /** Rows whose check didn't fit. */
  damaged: number;
  /** Rows past the capacity or past the end of the slab. */
  outside: number;
  /** Rows that claim a place that isn't one, or that another row claims too, or a block that another row holds. */
  contradictory: number;
}

export class Recovery {
  readonly counts: RecoveryCounts = {
    restored: 0,
    trusted: 0,
    damaged: 0,
    outside: 0,
    contradictory: 0,
  };
  readonly #store: Store;
  readonly #header: TableHeader;
  readonly #slabBytes: number;
  readonly #seed: number;
  readonly #place = newBlockPlace();
  readonly #claim: RowClaim = { checksum: 0, run: 0 };
  #next: SlotId = 1;

  /** `header` is the new run's, as `planStart` gave it; `slabBytes` is the length that the slab file was found with. */
  constructor(store: Store, header: TableHeader, slabBytes: number) {
    this.#store = store;
    this.#header = header;
    this.#slabBytes = slabBytes;
    this.#seed = recordSeed(header.cacheId);
  }

  /** The row that `take` goes on with. */
  get next(): SlotId {
    return this.#next;
  }

  /** Takes the next rows: whole ones, little-endian words as they stand in the file. */
  take(words: Int32Array): void {
    assert(words.length % RECORD_WORDS === 0, 'recovery: whole rows only');
    for (let at = 0; at < words.length; at += RECORD_WORDS) {
      this.#row(this.#next, words, at);
      this.#next += 1;
    }
  }

  /** After the last row: the store can be used from now on. */
  finish(): RecoveryCounts {
    const { blocks, trusted, refused } = this.#store.finishRestoring();
    this.counts.restored = blocks;
    this.counts.trusted = trusted;
    this.counts.contradictory += refused;
    return this.counts;
  }

  #row(slot: SlotId, words: Int32Array, at: number): void {
    const place = this.#place;
    const claim = this.#claim;
    const state = decodeRecord(words, at, slot, this.#seed, place, claim);
    if (state === 'empty') return;
    if (state === 'damaged') {
      this.counts.damaged += 1;
      return;
    }
    const isTrusted = endedClean(this.#header, claim.run);
    const outcome = this.#store.restore(slot, place, isTrusted, this.#slabBytes);
    if (outcome === 'outside') this.counts.outside += 1;
    else if (outcome === 'contradictory') this.counts.contradictory += 1;
  }
}
