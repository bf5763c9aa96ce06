import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Hash128 } from '../base/hash.ts';
import { NO_SLOT, Store, type SlotId } from '../store/store.ts';
import type { JournalEffects } from './effects.ts';
import { defaultJournalLimits, Journal, type JournalLimits } from './journal.ts';
import { firstHeader } from './table-header.ts';

const BLOCK = 64 * 1024;
const EIO = 5;
const versionOf = (i: number): Hash128 => ({ h0: i, h1: 2, h2: 3, h3: ~i >>> 0 });

/** A journal whose effects are written down, and who plays the disk by hand. */
class Bench implements JournalEffects {
  readonly store: Store;
  readonly journal: Journal;
  /** What was asked for since the last look. */
  asked: string[] = [];

  constructor(blocks: number, limits: Partial<JournalLimits> = {}) {
    this.store = new Store({
      capacityBytes: blocks * BLOCK,
      blockBytes: BLOCK,
      seed: { hi: 1, lo: 2 },
    });
    this.journal = new Journal({
      store: this.store,
      effects: this,
      limits: { ...defaultJournalLimits, ...limits },
      header: firstHeader({ h0: 1, h1: 2, h2: 3, h3: 4 }, this.store),
    });
  }

  writeSlot(slot: SlotId): void {
    this.asked.push(`write ${slot}`);
  }

  syncSlab(): void {
    this.asked.push('sync slab');
  }

  writeRecord(slot: SlotId, record: Uint8Array): void {
    this.asked.push(record.every((byte) => byte === 0) ? `clear ${slot}` : `record ${slot}`);
  }

  syncTable(): void {
    this.asked.push('sync table');
  }

  verifySlot(): void {
    ok(false, 'the journal verifies nothing');
  }

  /** What the journal asks for at the end of an event. */
  next(now: number): string[] {
    this.journal.advance(now);
    const { asked } = this;
    this.asked = [];
    return asked;
  }

  /** Takes a slot for a block and asks for its write. */
  begin(i: number, bytes = BLOCK): SlotId {
    const slot = this.store.reserve(versionOf(i), 0, 0, 0, bytes);
    ok(slot !== NO_SLOT);
    this.journal.write(slot, 0, Math.ceil(bytes / 4096) * 4096);
    return slot;
  }

  written(now: number, slot: SlotId): void {
    this.journal.ended();
    ok(this.store.publish(slot));
    this.journal.published(now, slot, slot);
  }

  /** Stores blocks until their rows are durable. */
  fill(now: number, blocks: readonly number[]): SlotId[] {
    const slots = blocks.map((i) => this.begin(i));
    for (const slot of slots) this.written(now, slot);
    this.next(now + 1000);
    this.journal.slabSynced(now + 1000, 0);
    this.next(now + 1000);
    this.journal.tableSynced(now + 1000, 0);
    deepEqual(this.next(now + 1000), []);
    return slots;
  }

  get failed(): SlotId[] {
    const failed: SlotId[] = [];
    const next = (): SlotId => this.journal.takeFailed();
    for (let slot = next(); slot !== NO_SLOT; slot = next()) failed.push(slot);
    return failed;
  }
}

test('a block is written, synced and recorded, in this order, and then is settled', () => {
  const bench = new Bench(4);
  const slot = bench.begin(1);
  deepEqual(bench.next(0), [`write ${slot}`]);
  bench.written(10, slot);
  deepEqual(bench.next(10), []);
  equal(bench.journal.deadline, 210);
  deepEqual(bench.next(210), ['sync slab']);
  equal(bench.journal.deadline, Infinity);
  ok(!bench.journal.isSettled(slot));
  bench.journal.slabSynced(220, 0);
  deepEqual(bench.next(220), [`record ${slot}`, 'sync table']);
  ok(!bench.journal.isSettled(slot));
  bench.journal.tableSynced(230, 0);
  deepEqual(bench.next(230), []);
  ok(bench.journal.isSettled(slot));
  equal(bench.journal.levels().unrecorded, 0);
  equal(bench.journal.counters.rowsRecorded, 1);
});

test('a sync covers what was written before it was asked for, and the next one what came meanwhile', () => {
  const bench = new Bench(8);
  const [first, second, third] = [1, 2, 3].map((i) => bench.begin(i)) as [SlotId, SlotId, SlotId];
  bench.written(0, first);
  bench.written(0, second);
  bench.next(0);
  deepEqual(bench.next(200), ['sync slab']);
  bench.written(300, third);
  deepEqual(bench.next(900), []);
  bench.journal.slabSynced(900, 0);
  deepEqual(bench.next(900), ['sync slab', `record ${first}`, `record ${second}`, 'sync table']);
  bench.journal.slabSynced(910, 0);
  deepEqual(bench.next(910), []);
  bench.journal.tableSynced(920, 0);
  deepEqual(bench.next(920), [`record ${third}`, 'sync table']);
});

test('a block waits for the rows of all that left before it, and writers share that sync', () => {
  const bench = new Bench(2);
  const old = bench.fill(0, [1, 2]);
  const slots = [bench.begin(3), bench.begin(4)];
  const clears = old.map((slot) => `clear ${slot}`);
  deepEqual(bench.next(2000).sort(), [...clears, 'sync table'].sort());
  equal(bench.journal.levels().waitingWrites, 2);
  bench.journal.tableSynced(2010, 0);
  deepEqual(
    bench.next(2010),
    slots.map((slot) => `write ${slot}`),
  );
  for (const slot of old) ok(!bench.store.isRecorded(slot));
});

test('a block waits for no row that is cleared after it came', () => {
  const bench = new Bench(3);
  bench.fill(0, [1, 2]);
  bench.store.remove(versionOf(1), 0);
  const slot = bench.begin(3);
  bench.next(2000);
  bench.store.remove(versionOf(2), 0);
  deepEqual(bench.next(2000), []);
  bench.journal.tableSynced(2010, 0);
  const asked = bench.next(2010);
  ok(asked.includes(`write ${slot}`));
  ok(asked.includes('sync table'));
});

test('a block that leaves before it was synced never had a row, and leaves none to clear', () => {
  const bench = new Bench(4);
  const slots = [bench.begin(1), bench.begin(2)];
  bench.next(0);
  for (const slot of slots) bench.written(0, slot);
  bench.store.remove(versionOf(1), 0);
  deepEqual(bench.next(200), ['sync slab']);
  bench.store.remove(versionOf(2), 0);
  bench.next(200);
  bench.journal.slabSynced(210, 0);
  deepEqual(bench.next(210), []);
  const { unrecorded, unclearedRows } = bench.journal.levels();
  deepEqual([unrecorded, unclearedRows], [0, 0]);
  for (const slot of slots) ok(!bench.store.isRecorded(slot));
});

test('a block that leaves while its row is being written is cleared afterwards', () => {
  const bench = new Bench(4);
  const slot = bench.begin(1);
  bench.written(0, slot);
  bench.next(200);
  bench.journal.slabSynced(210, 0);
  bench.next(210);
  bench.store.remove(versionOf(1), 0);
  deepEqual(bench.next(210), []);
  bench.journal.tableSynced(220, 0);
  deepEqual(bench.next(220), [`clear ${slot}`, 'sync table']);
  equal(bench.journal.counters.rowsRecorded, 0);
});

test('a slab sync that failed drops every block that wasn’t durable, and blocks are refused for a while', () => {
  const bench = new Bench(4);
  const slots = [bench.begin(1), bench.begin(2)];
  bench.written(0, slots[0]!);
  bench.next(200);
  bench.written(200, slots[1]!);
  bench.journal.slabSynced(300, EIO);
  deepEqual(bench.next(300), []);
  equal(bench.store.counters.blocks, 0);
  equal(bench.journal.counters.unsyncedDropped, 2);
  ok(!bench.journal.accepts());
  equal(bench.journal.counters.storesRefused, 1);
  bench.next(1299);
  ok(!bench.journal.accepts());
  bench.next(1300);
  ok(bench.journal.accepts());
});

test('a table sync that failed fails the writes that wait, keeps its rows, and is tried again until it works', () => {
  const bench = new Bench(2);
  const [one] = bench.fill(0, [1, 2]) as [SlotId];
  bench.store.remove(versionOf(1), 0);
  const slot = bench.begin(3);
  deepEqual(bench.next(2000), [`clear ${one}`, 'sync table']);
  bench.journal.tableSynced(2010, EIO);
  deepEqual(bench.failed, [slot]);
  bench.store.cancel(slot);
  ok(!bench.journal.accepts());
  deepEqual(bench.next(2010), []);
  equal(bench.journal.deadline, 3010);
  deepEqual(bench.next(3010), [`clear ${one}`, 'sync table']);
  bench.journal.tableSynced(3020, EIO);
  deepEqual(bench.next(4020), [`clear ${one}`, 'sync table']);
  ok(bench.store.isRecorded(one));
  bench.journal.tableSynced(4030, 0);
  deepEqual(bench.next(4030), []);
  ok(!bench.store.isRecorded(one));
  ok(bench.journal.accepts());
});

test('rows of blocks whose sync failed are written again, unless their block left', () => {
  const bench = new Bench(4);
  const slots = [bench.begin(1), bench.begin(2)];
  for (const slot of slots) bench.written(0, slot);
  bench.next(200);
  bench.journal.slabSynced(210, 0);
  bench.next(210);
  bench.store.remove(versionOf(1), 0);
  bench.journal.tableSynced(220, EIO);
  deepEqual(bench.next(1220), [`clear ${slots[0]}`, `record ${slots[1]}`, 'sync table']);
});

test('past its limits it takes no further blocks', () => {
  const bench = new Bench(4, { maxUnrecorded: 1, maxClears: 1 });
  ok(bench.journal.accepts());
  const slot = bench.begin(1);
  bench.next(0);
  ok(!bench.journal.accepts(), 'one is being written');
  bench.written(0, slot);
  ok(!bench.journal.accepts(), 'one is unrecorded');
  bench.next(200);
  bench.journal.slabSynced(200, 0);
  bench.next(200);
  ok(!bench.journal.accepts(), 'its row is being written');
  bench.journal.tableSynced(210, 0);
  ok(bench.journal.accepts());
  bench.store.remove(versionOf(1), 0);
  bench.next(210);
  ok(!bench.journal.accepts(), 'one row is to be cleared');
});

test('one sync covers at most so many rows', () => {
  const bench = new Bench(8, { rowsPerSync: 2 });
  bench.fill(0, [1, 2]);
  for (const i of [3, 4, 5]) bench.written(2000, bench.begin(i));
  bench.next(3000);
  bench.journal.slabSynced(3000, 0);
  equal(bench.next(3000).length, 3);
  for (const i of [1, 2]) bench.store.remove(versionOf(i), 0);
  bench.next(3000);
  bench.journal.tableSynced(3010, 0);
  const asked = bench.next(3010);
  ok(asked.length === 3 && asked[0]!.startsWith('clear') && asked[1]!.startsWith('clear'));
  bench.journal.tableSynced(3020, 0);
  equal(bench.next(3020).length, 2);
});

test('a shutdown with nothing under way is over at once', () => {
  const bench = new Bench(4);
  bench.fill(0, [1, 2]);
  equal(bench.journal.levels().unflushed, 1);
  bench.journal.shutdown();
  ok(!bench.journal.accepts());
  deepEqual(bench.next(0), []);
  equal(bench.journal.levels().unflushed, 0);
});

test('a shutdown syncs at once, and waits for the writes that are out', () => {
  const bench = new Bench(4);
  const slots = [bench.begin(1), bench.begin(2)];
  bench.next(0);
  bench.written(0, slots[0]!);
  bench.journal.shutdown();
  deepEqual(bench.next(0), ['sync slab']);
  bench.written(5, slots[1]!);
  bench.journal.slabSynced(10, 0);
  deepEqual(bench.next(10), ['sync slab', `record ${slots[0]}`, 'sync table']);
  bench.journal.slabSynced(20, 0);
  bench.journal.tableSynced(20, 0);
  deepEqual(bench.next(20), [`record ${slots[1]}`, 'sync table']);
  ok(bench.journal.levels().unflushed > 0);
  bench.journal.tableSynced(30, 0);
  equal(bench.journal.levels().unflushed, 0);
});

test('a shutdown on a table that can’t be synced is never over', () => {
  const bench = new Bench(4);
  const [slot] = bench.fill(0, [1]) as [SlotId];
  bench.store.remove(versionOf(1), 0);
  bench.journal.shutdown();
  bench.next(2000);
  bench.journal.tableSynced(2010, EIO);
  deepEqual(bench.next(2010), []);
  ok(bench.journal.levels().unflushed > 0);
  equal(bench.journal.deadline, 3010);
  deepEqual(bench.next(3010), [`clear ${slot}`, 'sync table']);
  bench.journal.tableSynced(3020, 0);
  equal(bench.journal.levels().unflushed, 0);
});

test('a verified block’s row is written anew, over the one that it has', () => {
  const bench = new Bench(4);
  const [slot] = bench.fill(0, [1]) as [SlotId];
  bench.journal.verified(slot, 9);
  ok(!bench.journal.isSettled(slot));
  deepEqual(bench.next(2000), [`record ${slot}`, 'sync table']);
  bench.journal.tableSynced(2010, 0);
  ok(bench.journal.isSettled(slot));
  bench.journal.verified(slot, 9);
  bench.store.remove(versionOf(1), 0);
  deepEqual(bench.next(3000), [`clear ${slot}`, 'sync table']);
});
