import { equal, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { FillMemory, MAX_PIECE_BYTES, NO_MEMORY, PAGE_BYTES } from './fill-memory.ts';
import { Prng } from './prng.ts';

test('pieces are powers of two from a page up, aligned to their size', () => {
  const memory = new FillMemory(8 << 20);
  for (const [bytes, piece] of [
    [1, 4096],
    [4096, 4096],
    [4097, 8192],
    [600_000, 1 << 20],
    [MAX_PIECE_BYTES, MAX_PIECE_BYTES],
  ] as const) {
    const offset = memory.allocate(bytes);
    equal(memory.pieceBytes(offset), piece);
    equal(offset % piece, 0);
  }
});

test('a full region refuses and counts, and is whole again once all came back', () => {
  const memory = new FillMemory(2 << 20);
  const pages: number[] = [];
  for (;;) {
    const offset = memory.allocate(1);
    if (offset === NO_MEMORY) break;
    pages.push(offset);
  }
  equal(pages.length, 512);
  equal(new Set(pages).size, 512);
  equal(memory.refused, 1);
  for (const offset of pages) memory.free(offset);
  equal(memory.usedBytes, 0);
  const wholes = [memory.allocate(1 << 20), memory.allocate(1 << 20)];
  equal(Math.min(...wholes), 0);
  equal(Math.max(...wholes), 1 << 20);
});

test('a budget that is no multiple of a megabyte is used to its last page', () => {
  const memory = new FillMemory(3 * (1 << 20) + 7 * PAGE_BYTES + 100);
  equal(memory.bytes, 3 * (1 << 20) + 7 * PAGE_BYTES);
  let pages = 0;
  while (memory.allocate(1) !== NO_MEMORY) pages++;
  equal(pages, 3 * 256 + 7);
});

test('freeing twice, freeing inside a piece and asking for too much are bugs', () => {
  const memory = new FillMemory(1 << 20);
  const offset = memory.allocate(16_384);
  for (const wrong of [offset + 4096, offset + 1, -4096, 1 << 20]) {
    throws(() => {
      memory.free(wrong);
    });
  }
  memory.free(offset);
  throws(() => {
    memory.free(offset);
  });
  throws(() => memory.allocate(0));
  throws(() => memory.allocate(MAX_PIECE_BYTES + 1));
});

test('in random histories pieces never overlap, and a refusal means that no aligned place was free', () => {
  for (let seed = 0; seed < 20; seed++) {
    const prng = new Prng(seed, 1);
    const pages = 256 + prng.below(600);
    const memory = new FillMemory(pages * PAGE_BYTES);
    const taken = new Uint8Array(pages);
    const live: { offset: number; bytes: number }[] = [];
    for (let step = 0; step < 2_000; step++) {
      if (prng.chance(0.55)) {
        const bytes = 1 + prng.below(PAGE_BYTES << prng.below(9));
        const offset = memory.allocate(bytes);
        if (offset === NO_MEMORY) {
          ok(!hasPlace(taken, bytes), `seed ${seed} step ${step}`);
          continue;
        }
        const piece = memory.pieceBytes(offset);
        ok(piece >= bytes && offset + piece <= memory.bytes);
        for (let page = offset / PAGE_BYTES; page < (offset + piece) / PAGE_BYTES; page++) {
          equal(taken[page], 0, `seed ${seed} step ${step}: overlap`);
          taken[page] = 1;
        }
        live.push({ offset, bytes: piece });
      } else if (live.length > 0) {
        const [gone] = live.splice(prng.below(live.length), 1);
        taken.fill(0, gone!.offset / PAGE_BYTES, (gone!.offset + gone!.bytes) / PAGE_BYTES);
        memory.free(gone!.offset);
      }
      equal(
        memory.usedBytes,
        live.reduce((sum, piece) => sum + piece.bytes, 0),
      );
    }
  }
});

function hasPlace(taken: Uint8Array, bytes: number): boolean {
  let pages = 1;
  while (pages * PAGE_BYTES < bytes) pages *= 2;
  for (let start = 0; start + pages <= taken.length; start += pages) {
    if (taken.subarray(start, start + pages).every((page) => page === 0)) return true;
  }
  return false;
}
