/**
 * Turns a block's key into 64 hashed bits, the same for index, ghost queue and doorkeeper.
 *
 * A seed that only this process knows goes in first, so nobody who chooses object names can aim
 * them at one place of a table. The bits only say where to look: equality is always decided on the
 * whole key.
 */
import { mix32, type Hash128, type U64 } from '../base/hash.ts';
import type { SlotId, SlotRecords } from './slot-records.ts';

export class BlockKey {
  readonly #seedHi: number;
  readonly #seedLo: number;
  /** The hashed bits of the last key, as two int32. */
  a = 0;
  b = 0;

  constructor(seed: Readonly<U64>) {
    this.#seedHi = seed.hi | 0;
    this.#seedLo = seed.lo | 0;
  }

  /** Hashes the key of a block. */
  set(hash: Readonly<Hash128>, block: number): void {
    this.#mix(hash.h0 | 0, hash.h1 | 0, hash.h2 | 0, hash.h3 | 0, block);
  }

  /** Hashes the key of the block in a slot. */
  setFromSlot(records: SlotRecords, slot: SlotId): void {
    this.#mix(
      records.versionWord(slot, 0),
      records.versionWord(slot, 1),
      records.versionWord(slot, 2),
      records.versionWord(slot, 3),
      records.block(slot),
    );
  }

  #mix(h0: number, h1: number, h2: number, h3: number, block: number): void {
    const first = mix32(h0 ^ this.#seedHi) + Math.imul(h1 ^ block, 0x9e3779b1);
    const a = mix32(first ^ h2 ^ this.#seedLo);
    this.a = a;
    this.b = mix32(Math.imul(a ^ h3, 0x85ebca77) + first);
  }
}
