import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from '../base/prng.ts';
import { SizeClasses } from './size-classes.ts';
import { SlotAllocator } from './slot-allocator.ts';
import { NIL, SlotRecords, type SlotId } from './slot-records.ts';

const KIB = 1024;

function rig(
  extents: number,
  largest = 64 * KIB,
): { allocator: SlotAllocator; classes: SizeClasses } {
  const classes = new SizeClasses(largest);
  const records = new SlotRecords();
  return {
    allocator: new SlotAllocator(records, classes, extents * classes.extentBytes + 4095),
    classes,
  };
}

test('an extent serves one class until its last slot came back, then any', () => {
  const { allocator, classes } = rig(1);
  const small = classes.classOf(8 * KIB);
  const large = classes.classOf(64 * KIB);
  const slots = Array.from({ length: 8 }, () => allocator.take(small));
  deepEqual(
    slots.map((slot) => allocator.fileOffset(slot)),
    [0, 8, 16, 24, 32, 40, 48, 56].map((kib) => kib * KIB),
  );
  equal(allocator.take(small), NIL);
  equal(allocator.take(large), NIL);
  for (const slot of slots.slice(1)) allocator.release(slot);
  equal(allocator.take(large), NIL);
  equal(allocator.freeSlotBytes, 56 * KIB);
  allocator.release(slots[0]!);
  equal(allocator.freeSlotBytes, 0);
  equal(allocator.freeExtents, 1);
  equal(allocator.fileOffset(allocator.take(large)), 0);
});

test('a slot up to half as large again is taken only when nothing else is free', () => {
  const { allocator, classes } = rig(2);
  const held = allocator.take(classes.classOf(12 * KIB));
  equal(
    allocator.classOf(allocator.takeOrLarger(classes.classOf(8 * KIB))),
    classes.classOf(8 * KIB),
  );
  while (allocator.take(classes.classOf(8 * KIB)) !== NIL);
  const larger = allocator.takeOrLarger(classes.classOf(8 * KIB));
  equal(allocator.classOf(larger), classes.classOf(12 * KIB));
  equal(allocator.takeOrLarger(classes.classOf(4 * KIB)), NIL);
  allocator.release(held);
  allocator.release(larger);
  equal(allocator.freeExtents, 1);
});

test('capacity counts in whole extents, and there must be one', () => {
  equal(rig(3).allocator.extentCount, 3);
  throws(() => rig(0));
});

test('releasing twice is a bug', () => {
  const { allocator } = rig(2);
  const kept = allocator.take(0);
  const slot = allocator.take(0);
  allocator.release(slot);
  throws(() => {
    allocator.release(slot);
  });
  ok(kept !== NIL);
});

test('in random histories slots never overlap, stay within the file, and give every byte back', () => {
  for (let seed = 0; seed < 10; seed++) {
    const prng = new Prng(seed, 1);
    const { allocator, classes } = rig(40);
    const pages = new Uint8Array((40 * classes.extentBytes) / 4096);
    const live: SlotId[] = [];
    const mark = (slot: SlotId, value: number): void => {
      const first = allocator.fileOffset(slot) / 4096;
      const count = classes.slotBytes[allocator.classOf(slot)]! / 4096;
      ok(first + count <= pages.length);
      for (let page = first; page < first + count; page++) {
        equal(pages[page], 1 - value, `seed ${seed}`);
        pages[page] = value;
      }
    };
    for (let step = 0; step < 8_000; step++) {
      const isFilling = step % 2_000 < 1_200;
      if (prng.chance(isFilling ? 0.8 : 0.2)) {
        const sizeClass = prng.below(classes.count);
        const slot = prng.chance(0.5)
          ? allocator.take(sizeClass)
          : allocator.takeOrLarger(sizeClass);
        if (slot === NIL) continue;
        ok(classes.slotBytes[allocator.classOf(slot)]! >= classes.slotBytes[sizeClass]!);
        mark(slot, 1);
        live.push(slot);
      } else if (live.length > 0) {
        const [slot] = live.splice(prng.below(live.length), 1);
        mark(slot!, 0);
        allocator.release(slot!);
      }
    }
    for (const slot of live) allocator.release(slot);
    equal(allocator.freeExtents, 40);
    equal(allocator.freeSlotBytes, 0);
  }
});
