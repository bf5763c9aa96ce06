/**
 * Which space of the slab the rows on a disk may speak of, whatever a crash leaves of them: checks that none speaks of bytes that
 * aren't durable, and that no space is written to that one still speaks of.
 */
import { assert } from '../base/assert.ts';
import type { SlotId } from '../store/store.ts';

/** Bytes [start, end) of the slab. */
export interface Claim {
  readonly start: number;
  readonly end: number;
}

/** What each row written since the last sync says; null for nothing. */
export type WrittenRows = ReadonlyMap<SlotId, Claim | null>;

export class RowClaims {
  /** What each row may say. */
  readonly #claims = new Map<SlotId, readonly Claim[]>();
  #written = new Map<SlotId, Claim | null>();

  /** A row is written; it may get to disk by itself. */
  write(slot: SlotId, claim: Claim | null): void {
    this.#written.set(slot, claim);
    if (claim !== null) this.#claims.set(slot, [...(this.#claims.get(slot) ?? []), claim]);
  }

  askSync(): WrittenRows {
    const written = this.#written;
    this.#written = new Map();
    return written;
  }

  /** The rows say what was written last, surely. */
  finishSync(written: WrittenRows): void {
    for (const [slot, claim] of written) {
      if (claim === null) this.#claims.delete(slot);
      else this.#claims.set(slot, [claim]);
    }
  }

  /** Space is about to be written to: no row may speak of it. */
  assertUnclaimed({ start, end }: Claim): void {
    for (const claims of this.#claims.values()) {
      for (const claim of claims) {
        assert(end <= claim.start || claim.end <= start, 'a row speaks of space that is reused');
      }
    }
  }

  /** Another life begins: what the rows say was read. */
  clear(): void {
    this.#claims.clear();
    this.#written.clear();
  }
}
