import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { BlockKey } from './block-key.ts';
import { Doorkeeper } from './doorkeeper.ts';

const key = new BlockKey({ hi: 12, lo: 34 });
const at = (i: number, block = 0): BlockKey => {
  key.set({ h0: i, h1: 2, h2: 3, h3: 4 }, block);
  return key;
};

test('the first read is not admitted, the second within the window is', () => {
  const doorkeeper = new Doorkeeper(1000, 100);
  ok(!doorkeeper.seen(at(1), 0));
  ok(!doorkeeper.seen(at(1, 1), 0));
  ok(doorkeeper.seen(at(1), 99));
});

test('a mark lasts a window for certain and two at most, wherever in the window it was made', () => {
  for (let offset = 0; offset < 100; offset += 7) {
    for (let gap = 1; gap < 300; gap += 9) {
      const doorkeeper = new Doorkeeper(1000, 100);
      doorkeeper.seen(at(0), 1000);
      doorkeeper.seen(at(1), 1000 + offset);
      const isSeen = doorkeeper.seen(at(1), 1000 + offset + gap);
      if (gap < 100) ok(isSeen, `${offset} + ${gap}`);
      if (gap >= 200) ok(!isSeen, `${offset} + ${gap}`);
    }
  }
});

test('two windows at most also where hardly anybody asks', () => {
  // Seed 2040 of the simulator: a question just before the end of a second window began a third one for what was marked.
  for (let other = 1; other < 300; other += 7) {
    const doorkeeper = new Doorkeeper(1000, 100);
    doorkeeper.seen(at(1), 1000);
    doorkeeper.seen(at(2), 1000 + other);
    ok(!doorkeeper.has(at(1), 1000 + Math.max(200, other)), `after ${other}`);
    ok(!doorkeeper.seen(at(1), 1000 + Math.max(200, other)), `after ${other}`);
  }
});

test('reading renews the mark', () => {
  const doorkeeper = new Doorkeeper(1000, 100);
  doorkeeper.seen(at(1), 0);
  for (let now = 90; now < 1000; now += 90) ok(doorkeeper.seen(at(1), now));
});

test('when full it forgets early, and strangers stay rare', () => {
  const doorkeeper = new Doorkeeper(10_000, 1e9);
  let strangers = 0;
  for (let i = 0; i < 100_000; i++) if (doorkeeper.seen(at(i), 0)) strangers++;
  ok(strangers < 100_000 * 0.03, `${strangers} of 100,000`);
  ok(doorkeeper.earlyTurns >= 9 && doorkeeper.earlyTurns <= 10);
  let remembered = 0;
  for (let i = 95_000; i < 100_000; i++) if (doorkeeper.seen(at(i), 0)) remembered++;
  equal(remembered, 5_000);
});

test('widening keeps what is marked', () => {
  const doorkeeper = new Doorkeeper(1000, 1e9);
  for (let i = 0; i < 500; i++) doorkeeper.seen(at(i), 0);
  doorkeeper.widen(50_000);
  ok(doorkeeper.capacity >= 50_000);
  for (let i = 0; i < 500; i++) ok(doorkeeper.seen(at(i), 0));
  const before = doorkeeper.capacity;
  doorkeeper.widen(10);
  equal(doorkeeper.capacity, before);
});
