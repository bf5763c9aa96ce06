import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Prng } from '../base/prng.ts';
import type { Hash128 } from '../base/hash.ts';
import { newBlockPlace, type BlockPlace } from '../store/block-place.ts';
import { NO_SLOT, Store, type SlotId } from '../store/store.ts';
import { Recovery } from './recovery.ts';
import { encodeRecord, RECORD_WORDS, recordSeed } from './slot-record.ts';
import { cleanEnd, firstHeader, nextRun, type TableHeader } from './table-header.ts';

const KIB = 1024;
const BLOCK = 64 * KIB;
const versionOf = (i: number): Hash128 => ({ h0: i, h1: 0xffff_ffff, h2: 3, h3: ~i >>> 0 });

const newStore = (extents: number): Store =>
  new Store({ capacityBytes: extents * BLOCK, blockBytes: BLOCK, seed: { hi: 1, lo: 2 } });

/** What stands in the rows of a table. */
class Rows {
  words = new Int32Array(0);
  readonly header: TableHeader;

  constructor(store: Store) {
    this.header = firstHeader({ h0: 1, h1: 2, h2: 3, h3: 4 }, store);
  }

  /** A row for every block of a store, by run 1. */
  static of(store: Store): Rows {
    const rows = new Rows(store);
    for (let slot = 1; slot < store.end; slot++) {
      if (!store.isPublished(slot)) continue;
      const place = newBlockPlace();
      store.describe(slot, place);
      rows.write(slot, place);
    }
    return rows;
  }

  write(slot: SlotId, place: BlockPlace, run = 1): void {
    const at = (slot - 1) * RECORD_WORDS;
    if (at >= this.words.length) {
      const words = new Int32Array(at + RECORD_WORDS);
      words.set(this.words);
      this.words = words;
    }
    const seed = recordSeed(this.header.cacheId);
    encodeRecord(this.words, at, slot, place, { checksum: 5, run }, seed);
  }

  /** Restores into a store, after a clean end or a crash. */
  restore(store: Store, isClean = true, slabBytes = store.slabBytes): Recovery {
    const last = isClean ? cleanEnd(this.header) : this.header;
    const recovery = new Recovery(store, nextRun(last, store, true), slabBytes);
    const half = (this.words.length >> 1) & -RECORD_WORDS;
    recovery.take(this.words.subarray(0, half));
    recovery.take(this.words.subarray(half));
    recovery.finish();
    return recovery;
  }
}

function put(store: Store, i: number, bytes: number): SlotId {
  const slot = store.reserve(versionOf(i), 0, i, ~i >>> 0, bytes);
  if (slot !== NO_SLOT) store.publish(slot);
  return slot;
}

/** A store with a past: blocks of all sizes came and went. */
function lived(extents: number, seed: number): Store {
  const prng = new Prng(seed, 1);
  const store = newStore(extents);
  for (let i = 0; i < extents * 12; i++) {
    put(store, prng.below(extents * 6), prng.chance(0.3) ? BLOCK : 1 + prng.below(BLOCK));
    if (prng.chance(0.2)) store.remove(versionOf(prng.below(extents * 6)), 0);
  }
  return store;
}

function placesOf(store: Store): Map<SlotId, BlockPlace> {
  const places = new Map<SlotId, BlockPlace>();
  for (let slot = 1; slot < store.end; slot++) {
    if (!store.isPublished(slot)) continue;
    const place = newBlockPlace();
    store.describe(slot, place);
    places.set(slot, place);
  }
  return places;
}

function leftOf(store: Store): SlotId[] {
  const left: SlotId[] = [];
  for (let slot = store.takeLeft(); slot !== NO_SLOT; slot = store.takeLeft()) left.push(slot);
  return left.sort((a, b) => a - b);
}

/** Lets blocks come and go, then takes all of them out: the free space must be whole. */
function assertUsable(store: Store): void {
  const { counters, capacityBytes } = store;
  const prng = new Prng(capacityBytes, 5);
  for (let i = 0; i < (3 * capacityBytes) / BLOCK; i++) {
    ok(put(store, 1_000_000 + i, 1 + prng.below(BLOCK)) !== NO_SLOT, 'room for a block');
  }
  for (let slot = 1; slot < store.end; slot++) store.drop(slot);
  const { evictions } = counters;
  const blocks = capacityBytes / BLOCK;
  for (let i = 0; i < blocks; i++) put(store, 2_000_000 + i, BLOCK);
  deepEqual([counters.blocks, counters.evictions], [blocks, evictions]);
}

test('what was stored is found again, at its slot and its place, and the store goes on as before', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(1e6), (extents, seed) => {
      const old = lived(extents, seed);
      const store = newStore(extents);
      const { counts } = Rows.of(old).restore(store);
      const { blocks } = old.counters;
      const none = { damaged: 0, outside: 0, contradictory: 0 };
      deepEqual(counts, { restored: blocks, trusted: blocks, ...none });
      deepEqual(placesOf(store), placesOf(old));
      for (const [slot, { version, block }] of placesOf(old)) {
        equal(store.find(version, block), slot);
        ok(store.isTrusted(slot) && store.isRecorded(slot));
      }
      deepEqual(leftOf(store), []);
      assertUsable(store);
    }),
    { numRuns: 60 },
  );
});

test('blocks of a run that crashed come back untrusted', () => {
  const old = lived(4, 1);
  const store = newStore(4);
  const { counts } = Rows.of(old).restore(store, false);
  deepEqual([counts.restored, counts.trusted], [old.counters.blocks, 0]);
  for (const slot of placesOf(store).keys()) ok(!store.isTrusted(slot));
});

test('each row is judged by the run that wrote it', () => {
  const store = newStore(4);
  const rows = Rows.of(lived(4, 1));
  const [[slot, place]] = [...placesOf(lived(4, 1))] as [[SlotId, BlockPlace]];
  rows.write(slot, place, 7);
  const { counts } = rows.restore(store);
  equal(counts.trusted, counts.restored - 1);
  ok(!store.isTrusted(slot));
});

test('a larger capacity keeps everything, a smaller one what fits, and the rest is to be cleared', () => {
  const old = lived(20, 3);
  const larger = newStore(50);
  equal(Rows.of(old).restore(larger).counts.restored, old.counters.blocks);
  assertUsable(larger);
  const smaller = newStore(7);
  const { restored, outside } = Rows.of(old).restore(smaller).counts;
  const places = [...placesOf(old)];
  const beyond = places.filter(([, { extent }]) => extent >= 7).map(([slot]) => slot);
  equal(restored, places.length - beyond.length);
  equal(outside, beyond.length);
  deepEqual(leftOf(smaller), beyond);
  assertUsable(smaller);
});

test('what lay past the end of a slab that was cut is gone', () => {
  const old = lived(20, 4);
  const slabBytes = 9 * BLOCK + 5000;
  const store = newStore(20);
  const { restored, outside } = Rows.of(old).restore(store, true, slabBytes).counts;
  ok(outside > 0 && restored + outside === old.counters.blocks);
  for (const slot of placesOf(store).keys()) {
    ok(store.fileOffset(slot) + store.length(slot) <= slabBytes);
  }
  assertUsable(store);
});

test('damaged rows are counted and nothing else', () => {
  const old = lived(10, 5);
  const rows = Rows.of(old);
  const damaged = [...placesOf(old).keys()].filter((_, i) => i % 3 === 0);
  for (const slot of damaged) rows.words[(slot - 1) * RECORD_WORDS + 7]! ^= 1;
  const store = newStore(10);
  const { counts } = rows.restore(store);
  equal(counts.damaged, damaged.length);
  equal(counts.restored, old.counters.blocks - damaged.length);
  assertUsable(store);
});

test('of rows that claim one place none is believed, and a block that two rows hold is kept once', () => {
  const old = newStore(2);
  const slots = [1, 2, 3, 4].map((i) => put(old, i, 4096));
  const rows = Rows.of(old);
  const place = newBlockPlace();
  // Three rows at the place of the first block.
  old.describe(slots[0]!, place);
  for (const slot of [30, 31]) {
    Object.assign(place.version, versionOf(slot));
    rows.write(slot, place);
  }
  // Another row for the second block, at a place of its own.
  old.describe(slots[1]!, place);
  place.place = 9;
  rows.write(40, place);
  const store = newStore(2);
  const { counts } = rows.restore(store);
  deepEqual([counts.restored, counts.contradictory], [3, 4]);
  equal(store.find(versionOf(1), 0), NO_SLOT);
  equal(store.find(versionOf(2), 0), slots[1]);
  deepEqual(
    leftOf(store),
    [slots[0]!, 30, 31, 40].sort((a, b) => a - b),
  );
  assertUsable(store);
});

test('rows that can’t be are refused: a class that there isn’t, a place beyond it, another class’s extent, lengths', () => {
  const old = newStore(2);
  const slot = put(old, 1, 20_000);
  const good = newBlockPlace();
  old.describe(slot, good);
  const bad: Partial<BlockPlace>[] = [
    { slotBytes: 12_288 + 4096 * 11 },
    { place: 3 },
    { length: 0 },
    { length: good.slotBytes + 1 },
    { slotBytes: 4096, place: 2, length: 100 },
    { block: -1 },
  ];
  const rows = Rows.of(old);
  for (const [i, change] of bad.entries()) {
    rows.write(50 + i, { ...good, version: versionOf(50 + i), ...change });
  }
  const store = newStore(2);
  const { counts } = rows.restore(store);
  equal(counts.contradictory, bad.length);
  equal(counts.restored, 1);
  assertUsable(store);
});

test('whatever stands in a table, recovery ends, and the store can be used', () => {
  fc.assert(
    fc.property(fc.nat(1e9), (seed) => {
      const prng = new Prng(seed, 9);
      const old = lived(6, seed);
      const rows = Rows.of(old);
      for (const [slot, place] of placesOf(old)) {
        if (prng.chance(0.5)) continue;
        // A valid check over nonsense, as if the program that wrote it had been wrong.
        if (prng.chance(0.3)) place.extent = prng.below(8);
        if (prng.chance(0.3)) place.place = prng.below(18);
        if (prng.chance(0.2)) place.slotBytes = 4096 * (1 + prng.below(16));
        if (prng.chance(0.2)) place.length = prng.below(BLOCK + 2);
        if (prng.chance(0.2)) Object.assign(place.version, versionOf(prng.below(36)));
        rows.write(prng.chance(0.5) ? slot : 1 + prng.below(100), place);
      }
      const store = newStore(6);
      const { counts } = rows.restore(store);
      const places = [...placesOf(store).values()];
      equal(places.length, counts.restored);
      const spans = places
        .map((p) => [p.extent * BLOCK + p.place * p.slotBytes, p.slotBytes] as const)
        .sort(([a], [b]) => a - b);
      for (let i = 1; i < spans.length; i++) {
        ok(spans[i - 1]![0] + spans[i - 1]![1] <= spans[i]![0], 'slots don’t overlap');
      }
      assertUsable(store);
    }),
    { numRuns: 300 },
  );
});
