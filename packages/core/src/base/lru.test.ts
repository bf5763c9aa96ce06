import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Hash128 } from './hash.ts';
import { Lru } from './lru.ts';
import { Prng } from './prng.ts';

const key = (i: number): Hash128 => ({ h0: i, h1: 0xffff_ffff - i, h2: 7, h3: i * 3 });

test('the least recently used entry leaves first', () => {
  const lru = new Lru<string>(2, 1000, 1);
  lru.set(key(1), 'one', 1);
  lru.set(key(2), 'two', 1);
  equal(lru.get(key(1)), 'one');
  lru.set(key(3), 'three', 1);
  equal(lru.get(key(2)), null);
  equal(lru.get(key(1)), 'one');
  equal(lru.get(key(3)), 'three');
  equal(lru.evicted, 1);
});

test('peeking is no use', () => {
  const lru = new Lru<string>(2, 1000, 1);
  lru.set(key(1), 'one', 1);
  lru.set(key(2), 'two', 1);
  equal(lru.peek(key(1)), 'one');
  lru.set(key(3), 'three', 1);
  equal(lru.peek(key(1)), null);
});

test('heavy entries push out as many as they need, and what is too heavy is not kept', () => {
  const lru = new Lru<number>(10, 100, 1);
  for (let i = 0; i < 10; i++) lru.set(key(i), i, 10);
  ok(lru.set(key(20), 20, 35));
  equal(lru.count, 7);
  equal(lru.bytes, 95);
  ok(!lru.set(key(20), 21, 101));
  // Not even the value that it was to replace: that one is out of date.
  equal(lru.get(key(20)), null);
});

test('keys that differ in any one word are different keys', () => {
  const lru = new Lru<string>(10, 1000, 1);
  const base = key(1);
  lru.set(base, 'base', 1);
  for (const word of ['h0', 'h1', 'h2', 'h3'] as const) {
    equal(lru.get({ ...base, [word]: base[word] ^ 0x8000_0000 }), null);
  }
});

test('the caller may reuse its key record', () => {
  const lru = new Lru<string>(10, 1000, 1);
  const reused = key(1);
  lru.set(reused, 'one', 1);
  reused.h0 = 99;
  equal(lru.get(key(1)), 'one');
});

test('random histories agree with a map in order of use', () => {
  const prng = new Prng(8, 9);
  const lru = new Lru<number>(20, 500, prng.u32());
  // A map iterates in order of insertion: the first entry is the least recently used.
  const model = new Map<number, { value: number; bytes: number }>();
  const modelBytes = (): number => [...model.values()].reduce((sum, entry) => sum + entry.bytes, 0);
  for (let step = 0; step < 30_000; step++) {
    const i = prng.below(40);
    const choice = prng.below(10);
    if (choice < 5) {
      const known = model.get(i);
      equal(lru.get(key(i)), known?.value ?? null);
      if (known !== undefined) {
        model.delete(i);
        model.set(i, known);
      }
    } else if (choice < 9) {
      const bytes = prng.below(60);
      model.delete(i);
      while (model.size === 20 || modelBytes() + bytes > 500) {
        model.delete([...model.keys()][0]!);
      }
      model.set(i, { value: step, bytes });
      lru.set(key(i), step, bytes);
    } else {
      equal(lru.delete(key(i)), model.delete(i));
    }
    equal(lru.count, model.size);
    equal(lru.bytes, modelBytes());
  }
  deepEqual(
    Array.from({ length: 40 }, (_, i) => lru.peek(key(i))),
    Array.from({ length: 40 }, (_, i) => model.get(i)?.value ?? null),
  );
});
