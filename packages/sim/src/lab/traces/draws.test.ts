/** Popularity and sizes: what the generated traces are made of. */
import { deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import { Popularity } from './popularity.ts';
import { logUniform, sizesOf } from './sizes.ts';

test('each rank is drawn as often as Zipf’s law has it', () => {
  const popularity = new Popularity(50);
  const prng = new Prng(1, 2);
  const drawn = new Array<number>(50).fill(0);
  const draws = 200_000;
  for (let i = 0; i < draws; i++) drawn[popularity.draw(prng)]! += 1;
  let harmonic = 0;
  for (let rank = 1; rank <= 50; rank++) harmonic += 1 / rank;
  for (const rank of [1, 2, 3, 10, 50]) {
    const expected = draws / rank / harmonic;
    const count = drawn[rank - 1]!;
    ok(Math.abs(count - expected) < 4 * Math.sqrt(expected), `rank ${rank}: ${count}, ${expected}`);
  }
});

test('as many sizes fall into each doubling, and half of them into its lower part by logarithm', () => {
  const prng = new Prng(3, 4);
  const doublings = new Array<number>(10).fill(0);
  let low = 0;
  for (let i = 0; i < 20_000; i++) {
    const size = logUniform(prng, 16, 26);
    ok(size >= 2 ** 16 && size < 2 ** 26);
    const doubling = 31 - Math.clz32(size);
    doublings[doubling - 16]! += 1;
    if (size < 2 ** doubling * Math.SQRT2) low += 1;
  }
  for (const count of doublings) ok(Math.abs(count - 2_000) < 200, `${count}`);
  ok(Math.abs(low - 10_000) < 300, `${low}`);
});

test('sizes are drawn until they reach the total', () => {
  const sizes = sizesOf(new Prng(5, 6), 1_000_000, 10, 16);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  ok(total >= 1_000_000 && total - sizes.at(-1)! < 1_000_000);
});

test('sizes are the same on every machine', () => {
  const prng = new Prng(7, 8);
  const sizes = Array.from({ length: 4 }, () => logUniform(prng, 16, 26));
  deepEqual(sizes, [113_993, 2_545_267, 1_158_410, 1_066_167]);
});
