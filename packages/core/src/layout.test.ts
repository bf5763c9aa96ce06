import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from './base/prng.ts';
import { DEFAULT_SIZES, Layout, MAX_OBJECT_BYTES, type LayoutSizes } from './layout.ts';

const MIB = 1 << 20;
const TINY: LayoutSizes = { blockBytes: 4, chunkBytes: 16, tailBytes: 16, wholeBytes: 32 };

test('an object of 40 MiB keeps chunk 0 and its last 16 MiB on the home, and spreads what lies between', () => {
  const layout = new Layout();
  const onHome = Array.from({ length: 40 }, (_, block) => layout.isOnHome(40 * MIB, block));
  deepEqual(
    onHome,
    Array.from({ length: 40 }, (_, block) => block < 16 || block >= 24),
  );
});

test("a block that the tail only touches is the home's", () => {
  const layout = new Layout();
  const size = 64 * MIB + 1;
  // The last 16 MiB begin one byte into block 48.
  ok(layout.isOnHome(size, 48));
  ok(!layout.isOnHome(size, 47));
});

test('objects up to 32 MiB live wholly on their home, one byte more does not', () => {
  const layout = new Layout();
  for (let block = 0; block < 32; block++) ok(layout.isOnHome(32 * MIB, block));
  // Chunk 1 up to the tail: with 33 MiB, block 16 alone.
  deepEqual(
    Array.from({ length: 33 }, (_, block) => block).filter(
      (block) => !layout.isOnHome(33 * MIB, block),
    ),
    [16],
  );
});

test('the last block has what is left, also at 5 TiB', () => {
  const layout = new Layout();
  equal(layout.blockLength(1, 0), 1);
  equal(layout.blockLength(MIB, 0), MIB);
  const size = MAX_OBJECT_BYTES - 3;
  const last = 5 * 1024 * 1024 - 1;
  equal(layout.blockLength(size, last), MIB - 3);
  equal(layout.blockOf(size - 1), last);
  equal(layout.chunkOf(size - 1), 5 * 65_536 - 1);
  equal(layout.stretchEnd(size, size - 1), size);
  throws(() => layout.blockLength(size, last + 1));
  throws(() => layout.isOnHome(size, last + 1));
});

test('sizes that make no layout are refused', () => {
  throws(() => new Layout({ ...DEFAULT_SIZES, blockBytes: 2 * MIB }));
  throws(() => new Layout({ ...DEFAULT_SIZES, chunkBytes: 3 * MIB + 1 }));
  throws(() => new Layout({ ...DEFAULT_SIZES, chunkBytes: 0 }));
});

test('the home keeps exactly the bytes that the rule names, byte by byte', () => {
  const layout = new Layout(TINY);
  for (let size = 1; size < 150; size++) {
    for (let position = 0; position < size; position++) {
      const block = layout.blockOf(position);
      const start = Math.floor(position / 4) * 4;
      const bytes = [start, start + 1, start + 2, start + 3].filter((byte) => byte < size);
      const touchesTail = bytes.some((byte) => byte >= size - 16);
      equal(layout.isOnHome(size, block), size <= 32 || position < 16 || touchesTail);
    }
  }
});

test('stretches cover an object without gaps, within one chunk and one side of the home rule', () => {
  const prng = new Prng(4, 4);
  for (let round = 0; round < 2_000; round++) {
    const isTiny = prng.chance(0.5);
    const layout = new Layout(isTiny ? TINY : DEFAULT_SIZES);
    const size = 1 + Math.floor(prng.fraction() * (isTiny ? 400 : 300 * MIB));
    let position = 0;
    let stretches = 0;
    while (position < size) {
      const end = layout.stretchEnd(size, position);
      ok(end > position && end <= size);
      equal(layout.chunkOf(end - 1), layout.chunkOf(position));
      const side = layout.isOnHome(size, layout.blockOf(position));
      equal(layout.isOnHome(size, layout.blockOf(end - 1)), side);
      if (end < size) {
        const isNextChunk = layout.chunkOf(end) !== layout.chunkOf(position);
        const isOtherSide = layout.isOnHome(size, layout.blockOf(end)) !== side;
        ok(isNextChunk || isOtherSide, 'a stretch ends no earlier than it must');
      }
      position = end;
      stretches++;
    }
    ok(stretches <= Math.ceil(size / layout.chunkBytes) + 1);
  }
});

test('chunks of blocks and of positions agree', () => {
  const layout = new Layout(TINY);
  for (let position = 0; position < 500; position++) {
    equal(layout.chunkOfBlock(layout.blockOf(position)), layout.chunkOf(position));
    ok(layout.blockStart(layout.blockOf(position)) <= position);
  }
});
