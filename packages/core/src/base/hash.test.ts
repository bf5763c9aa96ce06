import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { copyHash128, equalHash128, mix32, mix64, spread, type U64 } from './hash.ts';
import { Prng } from './prng.ts';

test('two hashes are equal only if all four words are', () => {
  const a = { h0: 1, h1: 2, h2: 3, h3: 0xffff_ffff };
  const b = { h0: 0, h1: 0, h2: 0, h3: 0 };
  copyHash128(a, b);
  ok(equalHash128(a, b));
  for (const word of ['h0', 'h1', 'h2', 'h3'] as const) {
    ok(!equalHash128(a, { ...a, [word]: a[word] ^ 0x8000 }), word);
  }
});

test('the mixers give the same words for ever', () => {
  // Placement depends on them: a change here would move every block of every cluster.
  deepEqual(
    [0, 1, 2, 0xffff_ffff, 0x1234_5678].map(mix32),
    [0, 1364076727, 821347078, -2114883783, -478359108],
  );
  const mixed = (hi: number, lo: number): U64 => {
    const into = { hi: 0, lo: 0 };
    mix64(hi, lo, into);
    return into;
  };
  deepEqual(mixed(0, 0), { hi: 153828162, lo: 1393162998 });
  deepEqual(mixed(0xdead_beef, 0x0123_4567), { hi: 1608147198, lo: 4166620460 });
});

test('flipping any one input bit flips about half of the output bits', () => {
  const prng = new Prng(1, 2);
  const a = { hi: 0, lo: 0 };
  const b = { hi: 0, lo: 0 };
  for (let bit = 0; bit < 64; bit++) {
    let flipped = 0;
    const rounds = 400;
    for (let round = 0; round < rounds; round++) {
      const hi = prng.u32();
      const lo = prng.u32();
      mix64(hi, lo, a);
      mix64(bit < 32 ? hi : hi ^ (1 << (bit - 32)), bit < 32 ? lo ^ (1 << bit) : lo, b);
      flipped += ones(a.hi ^ b.hi) + ones(a.lo ^ b.lo);
    }
    const mean = flipped / rounds;
    ok(mean > 31 && mean < 33, `bit ${bit} flips ${mean} bits`);
  }
});

test('mixing is a bijection: nearby inputs never meet', () => {
  const seen = new Set<string>();
  const into = { hi: 0, lo: 0 };
  for (let i = 0; i < 100_000; i++) {
    mix64(i & 0xff, i >>> 8, into);
    seen.add(`${into.hi}:${into.lo}`);
  }
  equal(seen.size, 100_000);
  notEqual(mix32(1), mix32(2));
});

test('spread stays below its count at both ends and is even between them', () => {
  equal(spread(0, 7), 0);
  equal(spread(-1, 7), 6);
  equal(spread(-1, 1 << 20), (1 << 20) - 1);
  const hits = new Int32Array(10);
  for (let i = 0; i < 100_000; i++) hits[spread(mix32(i), 10)]!++;
  for (const count of hits) ok(count > 9_500 && count < 10_500);
});

function ones(x: number): number {
  let count = 0;
  for (let bits = x >>> 0; bits !== 0; bits = (bits & (bits - 1)) >>> 0) count++;
  return count;
}
