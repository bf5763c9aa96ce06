import { equal, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { log2 } from './log2.ts';
import { Prng } from './prng.ts';

test('powers of two are exact', () => {
  for (let exponent = -60; exponent <= 60; exponent++) equal(log2(2 ** exponent), exponent);
});

test('it agrees with the real logarithm to some 1e-15', () => {
  const prng = new Prng(1, 2);
  for (let i = 0; i < 20_000; i++) {
    const x = (prng.u32() + 0.5) / 0x1_0000_0000;
    const expected = Math.log2(x);
    ok(Math.abs(log2(x) - expected) <= 4e-16 * Math.max(1, Math.abs(expected)) * 4, `${x}`);
  }
});

test('it never falls while its argument rises, in the steps that scores have', () => {
  const prng = new Prng(3, 4);
  for (let i = 0; i < 20_000; i++) {
    const u32 = prng.below(0xffff_ffff);
    ok(log2((u32 + 0.5) / 0x1_0000_0000) < log2((u32 + 1.5) / 0x1_0000_0000), `${u32}`);
  }
});

test('some results, to the bit', () => {
  equal(log2(0.1), -3.321928094887362);
  equal(log2(3), 1.584962500721156);
});

test('what has no logarithm here is a bug', () => {
  for (const x of [0, -1, NaN, Infinity]) throws(() => log2(x));
});
