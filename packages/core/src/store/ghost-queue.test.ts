import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { BlockKey } from './block-key.ts';
import { GhostQueue } from './ghost-queue.ts';

const key = new BlockKey({ hi: 12, lo: 34 });
const at = (i: number): BlockKey => {
  key.set({ h0: i, h1: 2, h2: 3, h3: 4 }, 0);
  return key;
};

test('a ghost is found once', () => {
  const ghosts = new GhostQueue(1000);
  ok(!ghosts.take(at(1)));
  ghosts.add(at(1));
  ok(ghosts.take(at(1)));
  ok(!ghosts.take(at(1)));
});

test('it remembers about as many as it was made for, the latest ones', () => {
  const ghosts = new GhostQueue(10_000);
  for (let i = 0; i < 50_000; i++) ghosts.add(at(i));
  const found = (first: number, last: number): number => {
    let count = 0;
    for (let i = first; i <= last; i++) if (ghosts.take(at(i))) count++;
    return count;
  };
  ok(found(45_000, 49_999) > 4_900, 'the latest half');
  const older = found(40_000, 44_999);
  ok(older > 2_500 && older < 5_000, 'most of the older half');
  ok(found(0, 29_999) < 40, 'nothing from long ago but false matches');
});

test('strangers are hardly ever taken for ghosts', () => {
  const ghosts = new GhostQueue(10_000);
  for (let i = 0; i < 20_000; i++) ghosts.add(at(i));
  let found = 0;
  for (let i = 1_000_000; i < 1_100_000; i++) if (ghosts.take(at(i))) found++;
  ok(found < 60, `${found} of 100,000`);
});

test('the smallest queue works', () => {
  const ghosts = new GhostQueue(1);
  equal(ghosts.capacity, 16);
  ghosts.add(at(5));
  ok(ghosts.take(at(5)));
});
