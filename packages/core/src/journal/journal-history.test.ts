/**
 * Long random histories of store and journal on a disk that loses, tears and fails, against a naive model: a block's key says what
 * its bytes are. After every crash the blocks that came back are compared, byte for byte. The disk itself checks that
 * no row is ahead of its bytes and that no slot is written to while a row may speak of its space (testing/test-disk.ts).
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Hash128 } from '../base/hash.ts';
import { Prng } from '../base/prng.ts';
import { NO_SLOT, Store, type SlotId } from '../store/store.ts';
import { EventQueue } from '../testing/event-queue.ts';
import { diskFails, TestDisk, type DiskEvents } from '../testing/test-disk.ts';
import type { Verdict } from './effects.ts';
import { defaultJournalLimits, Journal, type JournalLimits } from './journal.ts';

const BLOCK = 16 * 1024;
const KEYS = 60;
const MEMORY_PIECES = 8;
const noLog = { put: (): void => undefined, forgotten: (): void => undefined };

interface Shape {
  readonly extents: number;
  readonly faults: number;
  readonly limits: Partial<JournalLimits>;
}

class History implements DiskEvents {
  readonly queue = new EventQueue();
  readonly disk: TestDisk;
  readonly #prng: Prng;
  readonly #shape: Shape;
  readonly #seed: number;
  readonly #memory = new Uint8Array(MEMORY_PIECES * BLOCK);
  /** Blocks being written, by slot: the piece of memory that they are in. */
  readonly #writing = new Map<SlotId, number>();
  readonly #verifying = new Map<SlotId, boolean>();
  #store!: Store;
  #journal!: Journal;
  /** What was seen in all lives, so that the test can tell that it tests something. */
  readonly seen = { restored: 0, trusted: 0, intact: 0, lives: 0, dropped: 0, cleared: 0 };

  constructor(seed: number, shape: Shape) {
    this.#seed = seed;
    this.#shape = shape;
    this.#prng = new Prng(seed, 1);
    this.disk = new TestDisk(this, this.#newStore().slabBytes, seed);
    this.#begin();
  }

  get journal(): Journal {
    return this.#journal;
  }

  delayMs(): number {
    return this.#prng.below(100) / 4;
  }

  metadataFrom(): number {
    return 0;
  }

  onMetadataLogCompacted(): void {
    ok(false, 'nothing was logged');
  }

  onSlotWritten(now: number, slot: SlotId, errno: number, checksum: number): void {
    this.#journal.ended();
    this.#writeEnded(now, slot, errno, checksum);
    this.#journal.advance(now);
  }

  onSlabSynced(now: number, errno: number): void {
    this.#journal.slabSynced(now, errno);
    this.#journal.advance(now);
  }

  onTableSynced(now: number, errno: number): void {
    this.#journal.tableSynced(now, errno);
    for (
      let slot = this.#journal.takeFailed();
      slot !== NO_SLOT;
      slot = this.#journal.takeFailed()
    ) {
      this.#writeEnded(now, slot, diskFails, 0);
    }
    this.#journal.advance(now);
  }

  onSlotVerified(now: number, slot: SlotId, verdict: Verdict, checksum: number): void {
    const store = this.#store;
    this.#verifying.delete(slot);
    if (store.isPublished(slot)) {
      // Nothing here turns bits on its own, and rows only speak of durable bytes.
      equal(verdict, 'intact');
      this.seen.intact += 1;
      if (!store.isTrusted(slot)) {
        store.trust(slot);
        this.#journal.verified(slot, checksum);
      }
    }
    store.unpin(slot);
    this.#journal.advance(now);
  }

  step(): void {
    const { queue } = this;
    const prng = this.#prng;
    const choice = prng.below(100);
    if (choice < 45) this.#put();
    else if (choice < 55) this.#remove();
    else if (choice < 70) this.#read();
    else if (choice < 71) this.#crash();
    else if (choice < 72) this.#endClean();
    for (let events = prng.below(6); events > 0 && queue.step(); events--);
    if (prng.chance(0.2)) this.#pass(prng.below(400));
    const isFaulty = (): number => (prng.below(100) < this.#shape.faults ? diskFails : 0);
    this.disk.nextWriteErrno = isFaulty();
    this.disk.nextSlabSyncErrno = isFaulty();
    this.disk.nextTableSyncErrno = isFaulty();
    this.#journal.advance(queue.now);
  }

  /** Everything comes to rest: rows and blocks are in step. */
  finish(): void {
    this.disk.heal();
    for (let i = 0; i < 20; i++) this.#pass(2000);
    const { waitingWrites, writes, unrecorded, unclearedRows } = this.#journal.levels();
    deepEqual([waitingWrites, writes, unrecorded, unclearedRows], [0, 0, 0, 0]);
    this.disk.assertInStep();
    this.#checkAll();
  }

  #newStore(): Store {
    const capacityBytes = this.#shape.extents * BLOCK;
    const seed = { hi: this.#seed, lo: 3 };
    return new Store({ capacityBytes, blockBytes: BLOCK, seed });
  }

  #begin(): void {
    this.#store = this.#newStore();
    const { restored, trusted, damaged, outside, contradictory } = this.disk.open(this.#store);
    deepEqual([damaged, outside, contradictory], [0, 0, 0]);
    this.seen.restored += restored;
    this.seen.trusted += trusted;
    this.seen.lives += 1;
    this.disk.readLog(noLog);
    this.#journal = new Journal({
      store: this.#store,
      effects: this.disk,
      limits: { ...defaultJournalLimits, ...this.#shape.limits },
      header: this.disk.header,
    });
    this.disk.attach(this, this.#store, this.#memory);
    this.#journal.advance(this.queue.now);
    this.#checkAll();
  }

  #put(): void {
    const prng = this.#prng;
    const memory = this.#freeMemory();
    if (memory === -1 || !this.#journal.accepts()) return;
    const key = prng.below(KEYS);
    const bytes = lengthOf(key);
    const slot = this.#store.reserve(versionOf(key), key & 3, key, 0, bytes);
    if (slot === NO_SLOT) return;
    this.#memory.fill(contentOf(key), memory, memory + BLOCK);
    this.#writing.set(slot, memory);
    this.#journal.write(slot, memory, Math.ceil(bytes / 4096) * 4096);
    this.#journal.advance(this.queue.now);
  }

  #writeEnded(now: number, slot: SlotId, errno: number, checksum: number): void {
    ok(this.#writing.delete(slot), 'a write ends once');
    if (errno !== 0) {
      this.#store.cancel(slot);
      return;
    }
    if (this.#store.publish(slot)) this.#journal.published(now, slot, checksum);
  }

  #remove(): void {
    const key = this.#prng.below(KEYS);
    this.#store.remove(versionOf(key), key & 3);
    this.#journal.advance(this.queue.now);
  }

  /** A read of whatever is there: its bytes must be right, trusted or not; those not trusted are verified. */
  #read(): void {
    const key = this.#prng.below(KEYS);
    const slot = this.#store.find(versionOf(key), key & 3);
    if (slot === NO_SLOT) return;
    this.#check(slot, key);
    this.#store.touch(slot);
    if (this.#verifying.has(slot) || !this.#journal.isSettled(slot)) return;
    this.#verifying.set(slot, true);
    this.#store.pin(slot);
    this.disk.verifySlot(slot);
  }

  #check(slot: SlotId, key: number): void {
    const length = this.#store.length(slot);
    const bytes = this.disk.slab.read(this.#store.fileOffset(slot), length);
    equal(length, lengthOf(key));
    const content = contentOf(key);
    ok(
      bytes.every((byte) => byte === content),
      'a block has the bytes that it was stored with',
    );
  }

  #checkAll(): void {
    for (let key = 0; key < KEYS; key++) {
      const slot = this.#store.find(versionOf(key), key & 3);
      if (slot !== NO_SLOT) this.#check(slot, key);
    }
  }

  #crash(): void {
    this.disk.crash(this.#prng.chance(0.3));
    this.#die();
  }

  #endClean(): void {
    this.disk.heal();
    this.#journal.shutdown();
    this.#journal.advance(this.queue.now);
    for (let i = 0; this.#journal.levels().unflushed > 0; i++) {
      ok(i < 50, 'a disk that works flushes');
      this.#pass(500);
    }
    this.disk.endClean();
    this.#die();
  }

  #die(): void {
    const { unsyncedDropped, rowsCleared } = this.#journal.counters;
    this.seen.dropped += unsyncedDropped;
    this.seen.cleared += rowsCleared;
    this.#writing.clear();
    this.#verifying.clear();
    this.#begin();
  }

  #pass(ms: number): void {
    const { queue } = this;
    const end = queue.now + ms;
    for (;;) {
      const { deadline } = this.#journal;
      if (Math.min(queue.next, deadline) > end) break;
      if (queue.next <= deadline) {
        queue.step();
      } else {
        queue.now = Math.max(queue.now, deadline);
        this.#journal.advance(queue.now);
      }
    }
    queue.now = end;
  }

  #freeMemory(): number {
    const used = new Set(this.#writing.values());
    for (let i = 0; i < MEMORY_PIECES; i++) if (!used.has(i * BLOCK)) return i * BLOCK;
    return -1;
  }
}

const versionOf = (key: number): Hash128 => ({ h0: key, h1: 2, h2: 3, h3: 4 });

/** All size classes, and whole blocks often. */
const lengthOf = (key: number): number => (key % 3 === 0 ? BLOCK : 1 + ((key * 2741) % BLOCK));
const contentOf = (key: number): number => key + 1;

const shapes: readonly Shape[] = [
  { extents: 2, faults: 0, limits: { slabSyncDelayMs: 0 } },
  { extents: 6, faults: 0, limits: {} },
  { extents: 6, faults: 20, limits: { syncRetryMs: 30, slabSyncDelayMs: 10 } },
  { extents: 20, faults: 5, limits: { rowsPerSync: 2, slabSyncDelayMs: 50 } },
  { extents: 4, faults: 10, limits: { maxUnrecorded: 3, maxClears: 3, rowsPerSync: 1 } },
];

for (const shape of shapes) {
  const name = `${shape.extents} extents, ${shape.faults} % faults, ${JSON.stringify(shape.limits)}`;
  test(`whatever a crash leaves, what comes back is what was stored: ${name}`, () => {
    const sum = { restored: 0, trusted: 0, intact: 0, lives: 0, dropped: 0, cleared: 0 };
    const runs = Number(process.env.JOURNAL_RUNS ?? 6);
    for (let seed = 1; seed <= runs; seed++) {
      const history = new History(seed, shape);
      for (let step = 0; step < 600; step++) history.step();
      history.finish();
      for (const what of Object.keys(sum) as (keyof typeof sum)[]) sum[what] += history.seen[what];
    }
    ok(sum.restored > sum.lives, 'blocks come back');
    ok(sum.trusted > 0 && sum.trusted < sum.restored, 'after clean ends, and after crashes');
    ok(sum.intact > 0 && sum.cleared > 0, 'blocks are verified, and rows cleared');
    equal(sum.dropped > 0, shape.faults > 0, 'blocks are dropped when syncs fail, and only then');
  });
}
