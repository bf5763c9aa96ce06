/**
 * Long random histories of the store against a naive model: a map of published blocks, and the
 * bytes of the file.
 *
 * The file is an array with one number a page: who wrote there last. A slot whose pages hold
 * anybody else's number was overlapped or reused too early, so this one comparison covers most
 * invariants at once.
 */
import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Hash128 } from '../base/hash.ts';
import { Prng } from '../base/prng.ts';
import { NO_SLOT, Store, type SlotId } from './store.ts';

const PAGE = 4096;

interface Held {
  readonly slot: SlotId;
  readonly key: number;
  readonly bytes: number;
  /** The number that stands in its pages. */
  readonly stamp: number;
}

class History {
  readonly store: Store;
  readonly #prng: Prng;
  readonly #blockBytes: number;
  readonly #keys: number;
  readonly #file: Int32Array;
  readonly #reserved: Held[] = [];
  readonly #pinned: Held[] = [];
  readonly #published = new Map<number, Held>();
  #stamp = 0;
  #refused = 0;

  constructor(seed: number, extents: number, blockBytes: number) {
    this.#prng = new Prng(seed, extents);
    this.#blockBytes = blockBytes;
    this.#keys = extents * 3;
    const capacityBytes = extents * blockBytes;
    this.store = new Store({ capacityBytes, blockBytes, seed: { hi: seed, lo: 99 } });
    this.#file = new Int32Array(this.store.slabBytes / PAGE);
  }

  step(): void {
    const choice = this.#prng.below(100);
    if (choice < 30) this.#reserve();
    else if (choice < 52) this.#publish();
    else if (choice < 56) this.#cancel();
    else if (choice < 75) this.#read();
    else if (choice < 90) this.#unpin();
    else if (choice < 97) this.#remove();
    else this.#recheck();
    this.#checkCounters();
  }

  #reserve(): void {
    const key = this.#prng.below(this.#keys);
    // All size classes, and whole blocks often.
    const isWhole = this.#prng.chance(0.3);
    const bytes = isWhole ? this.#blockBytes : 1 + this.#prng.below(this.#blockBytes);
    const slot = this.store.reserve(versionOf(key >> 2), key & 3, key, ~key >>> 0, bytes);
    this.#forgetEvicted();
    if (slot === NO_SLOT) {
      this.#refused++;
      ok(this.#reserved.length + this.#pinned.length > 0, 'refused with nothing held');
      return;
    }
    ok(this.store.slotBytes(slot) >= bytes);
    equal(this.store.length(slot), bytes);
    const held = { slot, key, bytes, stamp: ++this.#stamp };
    for (const other of [...this.#reserved, ...this.#pinned]) {
      ok(other.slot !== slot, 'a slot that is held was handed out');
    }
    this.#write(held);
    this.#reserved.push(held);
  }

  /** As the driver writes: whole pages from the slot's offset on. */
  #write(held: Held): void {
    const first = this.store.fileOffset(held.slot) / PAGE;
    const end = first + Math.ceil(held.bytes / PAGE);
    ok(first >= 1 && end <= this.#file.length, 'a slot beyond the capacity');
    this.#file.fill(held.stamp, first, end);
  }

  #checkBytes(held: Held): void {
    equal(this.store.length(held.slot), held.bytes);
    const first = this.store.fileOffset(held.slot) / PAGE;
    const end = first + Math.ceil(held.bytes / PAGE);
    for (let page = first; page < end; page++) {
      equal(this.#file[page], held.stamp, 'a slot in use was overwritten');
    }
  }

  #publish(): void {
    const held = this.#takeAny(this.#reserved);
    if (held === null) return;
    const isNew = !this.#published.has(held.key);
    equal(this.store.publish(held.slot), isNew);
    if (isNew) this.#published.set(held.key, held);
  }

  #cancel(): void {
    const held = this.#takeAny(this.#reserved);
    if (held !== null) this.store.cancel(held.slot);
  }

  #read(): void {
    const key = this.#prng.below(this.#keys);
    const slot = this.store.find(versionOf(key >> 2), key & 3);
    const held = this.#published.get(key);
    equal(slot, held?.slot ?? NO_SLOT);
    if (held === undefined) return;
    this.#checkBytes(held);
    this.store.touch(slot);
    if (this.#pinned.length < 12 && this.#prng.chance(0.5)) {
      this.store.pin(slot);
      this.#pinned.push(held);
    }
  }

  #unpin(): void {
    const held = this.#takeAny(this.#pinned);
    if (held === null) return;
    // Still what it was when it was pinned, whatever became of the block.
    this.#checkBytes(held);
    this.store.unpin(held.slot);
  }

  #remove(): void {
    const key = this.#prng.below(this.#keys);
    equal(this.store.remove(versionOf(key >> 2), key & 3), this.#published.delete(key));
  }

  #recheck(): void {
    const parity = this.#prng.below(2);
    this.store.recheckOwnership(0, 1000, (hi, lo) => {
      equal(lo, ~hi >>> 0);
      return hi % 2 === parity;
    });
  }

  /** What the store evicted, the model forgets; each such block must be one that nothing held. */
  #forgetEvicted(): void {
    for (const [key, held] of this.#published) {
      const slot = this.store.find(versionOf(key >> 2), key & 3);
      if (slot === held.slot) continue;
      equal(slot, NO_SLOT);
      ok(!this.#pinned.includes(held), 'a pinned block was evicted');
      this.#published.delete(key);
    }
  }

  #takeAny(list: Held[]): Held | null {
    if (list.length === 0) return null;
    return list.splice(this.#prng.below(list.length), 1)[0]!;
  }

  #checkCounters(): void {
    const { counters } = this.store;
    equal(counters.blocks, this.#published.size);
    equal(counters.reserved, this.#reserved.length);
    equal(counters.pinned, new Set(this.#pinned.map((held) => held.slot)).size);
    equal(counters.refused, this.#refused);
    let bytes = 0;
    for (const held of this.#published.values()) bytes += held.bytes;
    equal(counters.blockBytes, bytes);
  }

  /** Lets everything go: the whole capacity must be there again. */
  finish(): void {
    for (const held of this.#pinned.splice(0)) {
      this.#checkBytes(held);
      this.store.unpin(held.slot);
    }
    for (const held of this.#reserved.splice(0)) this.store.cancel(held.slot);
    for (const key of this.#published.keys()) {
      ok(this.store.remove(versionOf(key >> 2), key & 3));
    }
    const extentBytes = Math.ceil(this.#blockBytes / PAGE) * PAGE;
    for (let i = 0; i < this.store.capacityBytes / extentBytes; i++) {
      ok(this.store.reserve(versionOf(1_000_000 + i), 0, 0, 0, this.#blockBytes) !== NO_SLOT);
    }
    equal(this.store.reserve(versionOf(2_000_000), 0, 0, 0, 1), NO_SLOT);
  }
}

function versionOf(i: number): Hash128 {
  return { h0: i, h1: 0x8000_0000 + i, h2: 0xffff_ffff - i, h3: 7 };
}

for (const [extents, blockBytes] of [
  [1, 64 * 1024],
  [5, 256 * 1024],
  [30, 1 << 20],
  [64, 20_000],
  [200, 4096],
] as const) {
  test(`random histories of ${extents} extents of ${blockBytes} bytes keep every invariant`, () => {
    for (let seed = 1; seed <= 6; seed++) {
      const history = new History(seed, extents, blockBytes);
      for (let step = 0; step < 4_000; step++) history.step();
      history.finish();
    }
  });
}
