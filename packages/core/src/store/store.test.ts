import { deepEqual, equal, notEqual, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import type { Hash128 } from '../base/hash.ts';
import { NO_SLOT, SLAB_HEADER_BYTES, Store, type SlotId } from './store.ts';

const KIB = 1024;
const BLOCK = 64 * KIB;
const versionOf = (i: number): Hash128 => ({ h0: i, h1: 0xffff_ffff, h2: 3, h3: ~i >>> 0 });

const newStore = (blocks: number): Store =>
  new Store({ capacityBytes: blocks * BLOCK, blockBytes: BLOCK, seed: { hi: 1, lo: 2 } });

const reserve = (store: Store, i: number, bytes = BLOCK): SlotId =>
  store.reserve(versionOf(i), 0, i, ~i >>> 0, bytes);

function put(store: Store, i: number, bytes = BLOCK): SlotId {
  const slot = reserve(store, i, bytes);
  notEqual(slot, NO_SLOT);
  ok(store.publish(slot));
  return slot;
}

const holds = (store: Store, i: number): boolean => store.find(versionOf(i), 0) !== NO_SLOT;

test('a block is found from publish on, and not before', () => {
  const store = newStore(4);
  const slot = reserve(store, 1, 5000);
  ok(!holds(store, 1));
  equal(store.counters.reserved, 1);
  ok(store.publish(slot));
  equal(store.find(versionOf(1), 0), slot);
  equal(store.length(slot), 5000);
  equal(store.slotBytes(slot), 8192);
  equal(store.fileOffset(slot) % 4096, 0);
  equal(store.find(versionOf(1), 1), NO_SLOT);
  equal(store.find(versionOf(2), 0), NO_SLOT);
  deepEqual(store.counters, {
    blocks: 1,
    blockBytes: 5000,
    reserved: 0,
    pinned: 0,
    evictions: 0,
    emptied: 0,
    ghostHits: 0,
    refused: 0,
    duplicates: 0,
  });
});

test('a cancelled reservation leaves nothing', () => {
  const store = newStore(1);
  store.cancel(reserve(store, 1));
  ok(!holds(store, 1));
  put(store, 2);
  equal(store.counters.reserved, 0);
  equal(store.counters.evictions, 0);
});

test('of two fills of one block the first to be published stays, and the other slot is free', () => {
  const store = newStore(2);
  const first = reserve(store, 1);
  const second = reserve(store, 1);
  notEqual(first, second);
  ok(store.publish(second));
  ok(!store.publish(first));
  equal(store.find(versionOf(1), 0), second);
  equal(store.counters.duplicates, 1);
  put(store, 2);
  equal(store.counters.evictions, 0);
});

test('when everything is reserved or pinned a reservation is refused, and nothing is lost', () => {
  const store = newStore(3);
  const pinned = put(store, 1);
  store.pin(pinned);
  const reserved = [reserve(store, 2), reserve(store, 3)];
  equal(reserve(store, 4), NO_SLOT);
  equal(store.counters.refused, 1);
  ok(holds(store, 1));
  for (const slot of reserved) ok(store.publish(slot));
  store.unpin(pinned);
  notEqual(reserve(store, 4), NO_SLOT);
});

test('a pinned block that is removed keeps its bytes until the last pin is gone', () => {
  const store = newStore(1);
  const slot = put(store, 1);
  store.pin(slot);
  store.pin(slot);
  const offset = store.fileOffset(slot);
  ok(store.remove(versionOf(1), 0));
  ok(!holds(store, 1));
  equal(store.fileOffset(slot), offset);
  equal(store.length(slot), BLOCK);
  store.unpin(slot);
  equal(reserve(store, 2), NO_SLOT);
  equal(store.counters.pinned, 1);
  store.unpin(slot);
  equal(store.counters.pinned, 0);
  notEqual(reserve(store, 2), NO_SLOT);
});

test('a removed block can be stored anew while the old one is still being sent', () => {
  const store = newStore(2);
  const old = put(store, 1);
  store.pin(old);
  store.remove(versionOf(1), 0);
  const fresh = put(store, 1);
  notEqual(store.fileOffset(fresh), store.fileOffset(old));
  store.unpin(old);
  equal(store.find(versionOf(1), 0), fresh);
});

test('removing what is not there says so', () => {
  const store = newStore(2);
  ok(!store.remove(versionOf(1), 0));
  reserve(store, 1);
  ok(!store.remove(versionOf(1), 0));
});

test('a reserved slot can be pinned, and cancelling waits for the pin', () => {
  const store = newStore(1);
  const slot = reserve(store, 1);
  store.pin(slot);
  store.cancel(slot);
  equal(reserve(store, 2), NO_SLOT);
  store.unpin(slot);
  notEqual(reserve(store, 2), NO_SLOT);
});

test('states that make no sense are bugs', () => {
  const store = newStore(2);
  const slot = put(store, 1);
  for (const wrong of [
    () => store.publish(slot),
    () => {
      store.cancel(slot);
    },
    () => {
      store.unpin(slot);
    },
    () => reserve(store, 2, 0),
    () => reserve(store, 2, BLOCK + 1),
    () => store.reserve(versionOf(1), -1, 0, 0, 1),
    () => store.reserve(versionOf(1), 1 << 24, 0, 0, 1),
  ]) {
    throws(wrong);
  }
  store.remove(versionOf(1), 0);
  throws(() => {
    store.pin(slot);
  });
});

test('space moves between size classes: a cache full of small blocks takes large ones, and back', () => {
  const store = newStore(16);
  for (let i = 0; i < 400; i++) put(store, i, 4096);
  for (let i = 1000; i < 1016; i++) put(store, i);
  equal(store.counters.blocks, 16);
  for (let i = 2000; i < 2400; i++) put(store, i, 4096);
  equal(store.counters.blocks, 256);
});

test('an extent is emptied when its read blocks keep its space from another class, and they are remembered', () => {
  const store = newStore(16);
  for (let i = 0; i < 256; i++) {
    const slot = put(store, i, 4096);
    if (i % 2 === 0) store.touch(slot);
  }
  put(store, 1000);
  ok(holds(store, 1000));
  ok(store.counters.emptied > 0 && store.counters.emptied <= 8, 'one extent at most');
  const gone = Array.from({ length: 128 }, (_, i) => 2 * i).filter((i) => !holds(store, i));
  equal(gone.length, store.counters.emptied);
  for (const i of gone) put(store, i, 4096);
  equal(store.counters.ghostHits, gone.length);
});

test('an extent is not emptied while one of its slots is pinned', () => {
  const store = newStore(1);
  const pinned = put(store, 0, 4096);
  store.pin(pinned);
  for (let i = 1; i < 15; i++) put(store, i, 4096);
  equal(reserve(store, 100), NO_SLOT);
  ok(holds(store, 0));
  store.unpin(pinned);
  notEqual(reserve(store, 100), NO_SLOT);
});

test('after a ring change blocks that are not owned go first, and come back into line when owned again', () => {
  const store = newStore(10);
  for (let i = 0; i < 10; i++) store.touch(put(store, i));
  const recheck = (owns: (hi: number) => boolean): void => {
    let from = 0;
    do {
      from = store.recheckOwnership(from, 3, owns);
    } while (from !== 0);
  };
  recheck((hi) => hi % 2 === 0);
  for (let i = 100; i < 105; i++) put(store, i);
  deepEqual(
    Array.from({ length: 10 }, (_, i) => holds(store, i)),
    Array.from({ length: 10 }, (_, i) => i % 2 === 0),
  );
  recheck(() => false);
  recheck(() => true);
  put(store, 200);
  ok(holds(store, 0), 'main again, and small goes first');
});

test('recheck passes on both halves of each placement', () => {
  const store = newStore(4);
  put(store, 7);
  put(store, 8);
  const seen: [number, number][] = [];
  store.recheckOwnership(0, 100, (hi, lo) => {
    seen.push([hi, lo]);
    return true;
  });
  deepEqual(seen, [
    [7, 0xffff_fff8],
    [8, 0xffff_fff7],
  ]);
});

test('the doorkeeper admits on the second read within its window', () => {
  const store = new Store({
    capacityBytes: 10 * BLOCK,
    blockBytes: BLOCK,
    seed: { hi: 1, lo: 2 },
    doorkeeperWindowMs: 1000,
  });
  ok(!store.admits(versionOf(1), 0, 5000));
  ok(!store.admits(versionOf(1), 1, 5000));
  ok(store.admits(versionOf(1), 0, 5900));
  ok(!store.admits(versionOf(1), 0, 9000));
});

test('offsets beyond 4 GiB are exact', () => {
  const mib = 1 << 20;
  const store = new Store({ capacityBytes: 6000 * mib, blockBytes: mib, seed: { hi: 1, lo: 2 } });
  const offsets = new Set<number>();
  for (let i = 0; i < 6000; i++) {
    const slot = store.reserve(versionOf(i), 0, 0, 0, mib);
    offsets.add(store.fileOffset(slot));
  }
  equal(offsets.size, 6000);
  equal(Math.min(...offsets), SLAB_HEADER_BYTES);
  equal(Math.max(...offsets), SLAB_HEADER_BYTES + 5999 * mib);
  equal(store.reserve(versionOf(9999), 0, 0, 0, 1), NO_SLOT);
});

test('a slab that was cut loses what reaches past its end, and it is told as long as that is still being sent', () => {
  const store = newStore(4);
  const slots = [1, 2, 3].map((i) => put(store, i));
  const end = store.fileOffset(slots[1]!);
  store.pin(slots[0]!);
  store.pin(slots[2]!);
  equal(store.dropPast(end), 2);
  deepEqual(
    [1, 2, 3].map((i) => holds(store, i)),
    [true, false, false],
  );
  ok(store.mustStayCut(end));
  store.unpin(slots[2]!);
  ok(!store.mustStayCut(end));
  ok(store.mustStayCut(end - 1), 'a slot that ends past it');
  store.unpin(slots[0]!);
  ok(!store.mustStayCut(0));
});

test('a slab that was cut stays so until no row may speak of what was lost', () => {
  const store = newStore(4);
  const slots = [1, 2, 3].map((i) => put(store, i));
  for (const slot of slots) store.setRecorded(slot, true);
  store.remove(versionOf(2), 0);
  const end = store.fileOffset(slots[2]!);
  equal(store.dropPast(end), 1);
  ok(store.mustStayCut(end));
  store.setRecorded(slots[2]!, false);
  ok(store.mustStayCut(end), 'the row of the block that left before');
  store.setRecorded(slots[1]!, false);
  ok(!store.mustStayCut(end));
});
