/**
 * Blocks that an earlier run left behind, verified before their first reader gets them: readers wait for the disk to compare the
 * block with its row, then go on.
 *
 *   hit on an untrusted block ─wait─► comparing ─ intact ──► trusted, recorded as this run's; its readers are served
 *   scrub (scrub.ts) ─────begin─────────┘  └── damaged, unreadable ──► dropped; its readers get it from S3
 *
 * The slot is pinned meanwhile, so its bytes and its place stay. A block that left by then is nobody's any more: its outcome is
 * forgotten, and readers look anew. The next fill of a damaged block stores it, without a first read at the doorkeeper.
 *
 * Invariants: a block is compared once at a time, and only when its row is on disk as it stays. At most `maxVerifications`
 * are under way for readers, and one for the scrub.
 */
import { assert } from '../base/assert.ts';
import { LinkedList } from '../base/linked-list.ts';
import type { Verdict } from '../journal/effects.ts';
import type { Journal } from '../journal/journal.ts';
import { newBlockPlace } from '../store/block-place.ts';
import type { SlotId, Store } from '../store/store.ts';
import type { NodeEffects } from './effects.ts';
import type { NodeLimits } from './limits.ts';
import type { Reader } from './reader.ts';

/** What was counted since the start. */
export interface VerificationCounters {
  /** Blocks that were compared with their rows, by what came of it. */
  intact: number;
  damaged: number;
  unreadable: number;
  /** Those among them that the scrub asked for. */
  scrubbed: number;
  /** Reads that came from S3 because too many blocks were being verified. */
  exhausted: number;
  /** Blocks dropped because the slab was found shorter than it should be. */
  truncated: number;
}

export interface VerificationOptions {
  readonly store: Store;
  readonly journal: Journal;
  readonly effects: NodeEffects;
  readonly limits: NodeLimits;
  /** Readers that go on at the end of the event. */
  readonly again: LinkedList<Reader>;
}

export class Verification {
  readonly counters: VerificationCounters = {
    intact: 0,
    damaged: 0,
    unreadable: 0,
    scrubbed: 0,
    exhausted: 0,
    truncated: 0,
  };
  readonly #options: VerificationOptions;
  readonly #underWay = new Map<SlotId, LinkedList<Reader>>();
  readonly #place = newBlockPlace();

  constructor(options: VerificationOptions) {
    this.#options = options;
  }

  /** Blocks that are being compared. */
  get inUse(): number {
    return this.#underWay.size;
  }

  /** Lets a reader that is in no list wait until a slot's block was verified; false when too many are under way. */
  wait(slot: SlotId, reader: Reader): boolean {
    let readers = this.#underWay.get(slot);
    if (readers === undefined) {
      if (this.#underWay.size >= this.#options.limits.maxVerifications) {
        this.counters.exhausted += 1;
        return false;
      }
      readers = this.#begin(slot);
    }
    reader.waitsFor = 'verification';
    reader.slot = slot;
    readers.append(reader);
    return true;
  }

  /** For the scrub: compares a block that nobody waits for; false when that can't be done now. */
  scrub(slot: SlotId): boolean {
    const { store, journal } = this.#options;
    if (!store.isPublished(slot) || !journal.isSettled(slot) || this.#underWay.has(slot)) {
      return false;
    }
    this.counters.scrubbed += 1;
    this.#begin(slot);
    return true;
  }

  /** A waiting reader left; the comparison goes on. */
  leave(reader: Reader): void {
    assert(reader.list !== null, 'a reader waits for a verification that is under way');
    reader.list.remove(reader);
  }

  /** The disk compared a slot's block with its row; `checksum` is the block's. */
  onVerified(now: number, slot: SlotId, verdict: Verdict, checksum: number): void {
    const { store, journal, again } = this.#options;
    const readers = this.#underWay.get(slot);
    assert(readers !== undefined, 'every comparison ends once');
    this.#underWay.delete(slot);
    if (store.isPublished(slot)) {
      this.counters[verdict] += 1;
      if (verdict !== 'intact') {
        this.#drop(now, slot);
      } else if (!store.isTrusted(slot)) {
        store.trust(slot);
        journal.verified(slot, checksum);
      }
    }
    store.unpin(slot);
    for (let reader = readers.shift(); reader !== null; reader = readers.shift()) {
      reader.waitsFor = 'delivery';
      again.append(reader);
    }
  }

  /** The slab was found to end at `slabBytes`: what lies past that is gone. */
  onTruncated(slabBytes: number): void {
    this.counters.truncated += this.#options.store.dropPast(slabBytes);
  }

  #begin(slot: SlotId): LinkedList<Reader> {
    const { store, journal, effects } = this.#options;
    assert(journal.isSettled(slot), 'a block is compared with a row that stays');
    const readers = new LinkedList<Reader>();
    this.#underWay.set(slot, readers);
    store.pin(slot);
    effects.verifySlot(slot);
    return readers;
  }

  #drop(now: number, slot: SlotId): void {
    const { store } = this.#options;
    store.describe(slot, this.#place);
    store.admits(this.#place.version, this.#place.block, now);
    store.drop(slot);
  }
}
