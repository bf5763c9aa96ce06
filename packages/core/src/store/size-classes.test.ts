import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { SizeClasses } from './size-classes.ts';

const KIB = 1024;
const MIB = 1 << 20;

test('every length gets the smallest slot that holds it', () => {
  const classes = new SizeClasses(MIB);
  for (let bytes = 1; bytes <= MIB; bytes += bytes < 20_000 ? 1 : 997) {
    const sizeClass = classes.classOf(bytes);
    ok(classes.slotBytes[sizeClass]! >= bytes);
    if (sizeClass > 0) ok(classes.slotBytes[sizeClass - 1]! < bytes);
  }
  equal(classes.slotBytes[classes.classOf(MIB)], MIB);
  throws(() => classes.classOf(0));
  throws(() => classes.classOf(MIB + 1));
});

test('slots are whole pages and fit their extent', () => {
  for (const largest of [1, 4096, 5000, 100 * KIB, 256 * KIB, MIB - 1, MIB]) {
    const classes = new SizeClasses(largest);
    equal(classes.extentBytes, Math.ceil(largest / 4096) * 4096);
    equal(classes.slotBytes[0], 4096);
    equal(classes.slotBytes.at(-1), classes.extentBytes);
    for (const [sizeClass, bytes] of classes.slotBytes.entries()) {
      equal(bytes % 4096, 0);
      const slots = classes.slotsPerExtent[sizeClass]!;
      ok(slots >= 1 && slots <= 255 && slots * bytes <= classes.extentBytes);
    }
  }
  throws(() => new SizeClasses(MIB + 1));
  throws(() => new SizeClasses(0));
});

test('small sizes come in single pages', () => {
  const pages = new SizeClasses(MIB).slotBytes.map((bytes) => bytes / 4096);
  deepEqual(pages.slice(0, 20), [...Array.from({ length: 19 }, (_, i) => i + 1), 21]);
  equal(pages.length, 31);
});

test('from 32 KiB up a mean 12.5% of a slot is unused at most, and hardly more of an extent', () => {
  const classes = new SizeClasses(MIB);
  let ofSlot = 0;
  let ofExtent = 0;
  let samples = 0;
  // Lengths spread evenly by logarithm.
  for (let bytes = 32 * KIB; bytes <= MIB; bytes *= 1.0005) {
    const sizeClass = classes.classOf(Math.floor(bytes));
    ofSlot += 1 - bytes / classes.slotBytes[sizeClass]!;
    ofExtent += 1 - (bytes * classes.slotsPerExtent[sizeClass]!) / classes.extentBytes;
    samples++;
  }
  ok(ofSlot / samples <= 0.125, `slots: ${ofSlot / samples}`);
  ok(ofExtent / samples <= 0.1305, `extents: ${ofExtent / samples}`);
});
