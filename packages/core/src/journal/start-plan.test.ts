import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { planStart, type StartPlan } from './start-plan.ts';
import {
  cleanEnd,
  encodeSlabHeader,
  encodeTableHeader,
  endedClean,
  firstHeader,
  HEADER_BYTES,
  headerPosition,
  nextRun,
  type TableHeader,
} from './table-header.ts';

const shape = { blockBytes: 65536, extentBytes: 65536, slabBytes: 4096 + 10 * 65536 };
const newId = { h0: 9, h1: 9, h2: 9, h3: 9 };
const nothing = new Uint8Array(0);
const first = firstHeader({ h0: 1, h1: 2, h2: 3, h3: 4 }, shape);

function tableOf(header: TableHeader): Uint8Array {
  const file = new Uint8Array(HEADER_BYTES);
  file.set(encodeTableHeader(header), headerPosition(header));
  return file;
}

const plan = (
  table: Uint8Array,
  slab: Uint8Array,
  wanted = shape,
  bytes = wanted.slabBytes,
  file = 0,
): StartPlan => planStart(table, slab, { bytes, file }, wanted, newId);

function assertEmpty(found: StartPlan, reason: string): void {
  ok(found.kind === 'empty');
  equal(found.reason, reason);
  deepEqual(found.header, firstHeader(newId, shape));
}

test('a clean end is trusted by the next run', () => {
  const found = plan(tableOf(cleanEnd(first)), encodeSlabHeader(first));
  ok(found.kind === 'restore' && found.isSlabTrusted);
  equal(found.header.run, 2);
  deepEqual(found.header.cacheId, first.cacheId);
  ok(endedClean(found.header, 1));
});

test('a crash is not', () => {
  const found = plan(tableOf(first), encodeSlabHeader(first));
  ok(found.kind === 'restore' && found.isSlabTrusted);
  ok(!endedClean(found.header, 1));
});

test('a slab that missed the last run makes every row doubtful', () => {
  const second = cleanEnd(nextRun(cleanEnd(first), shape, true));
  const found = plan(tableOf(second), encodeSlabHeader(first));
  ok(found.kind === 'restore' && !found.isSlabTrusted);
  ok(!endedClean(found.header, 1) && !endedClean(found.header, 2));
});

test('a copy of a slab is trusted if it was left clean, and never if it may have been copied under a writer', () => {
  const { slabBytes } = shape;
  const clean = plan(tableOf(cleanEnd(first)), encodeSlabHeader(first), shape, slabBytes, 77);
  ok(clean.kind === 'restore' && clean.isSlabTrusted);
  equal(clean.header.slabFile, 77);
  const second = nextRun(cleanEnd(first), shape, true);
  const crashed = plan(tableOf(second), encodeSlabHeader(second), shape, slabBytes, 77);
  ok(crashed.kind === 'restore' && !crashed.isSlabTrusted);
  ok(!endedClean(crashed.header, 1));
  const known = { ...second, slabFile: 2 ** 40 + 5 };
  const same = plan(tableOf(known), encodeSlabHeader(known), shape, slabBytes, 2 ** 40 + 5);
  ok(same.kind === 'restore' && same.isSlabTrusted);
  ok(endedClean(same.header, 1));
});

test('a run that the table’s header forgot is not begun once more', () => {
  const second = nextRun(cleanEnd(first), shape, true);
  const found = plan(tableOf(cleanEnd(first)), encodeSlabHeader(second));
  ok(found.kind === 'restore' && !found.isSlabTrusted);
  equal(found.header.run, 3);
  ok(!endedClean(cleanEnd(found.header), second.run), 'its rows are doubtful for good');
});

test('a slab that has to be made longer makes every row doubtful, for good', () => {
  const ended = tableOf(cleanEnd(first));
  for (const [wanted, found] of [
    [shape, shape.slabBytes - 1],
    [{ ...shape, slabBytes: shape.slabBytes + 65536 }, shape.slabBytes],
  ] as const) {
    const cut = plan(ended, encodeSlabHeader(first), wanted, found);
    ok(cut.kind === 'restore' && !cut.isSlabTrusted);
    // A crash before the next clean end: the file has its length again, rows of the first run may be back.
    const next = plan(tableOf(cut.header), encodeSlabHeader(cut.header), wanted);
    ok(next.kind === 'restore' && !endedClean(next.header, 1));
  }
  const longer = plan(ended, encodeSlabHeader(first), shape, shape.slabBytes + 65536);
  ok(longer.kind === 'restore' && longer.isSlabTrusted);
});

test('a directory that grew or shrank goes on', () => {
  for (const slabBytes of [4096 + 65536, 4096 + 1000 * 65536]) {
    const found = plan(tableOf(first), encodeSlabHeader(first), { ...shape, slabBytes });
    ok(found.kind === 'restore');
    equal(found.header.slabBytes, slabBytes);
  }
});

test('what can’t be used is told by name, and the cache begins empty under a new id', () => {
  const table = tableOf(first);
  const slab = encodeSlabHeader(first);
  const foreign = encodeSlabHeader(firstHeader({ h0: 7, h1: 7, h2: 7, h3: 7 }, shape));
  const flipped = (bytes: Uint8Array, at: number): Uint8Array =>
    bytes.map((byte, i) => (i === at ? byte ^ 1 : byte));
  assertEmpty(plan(nothing, nothing), 'new');
  assertEmpty(plan(nothing, slab), 'table-missing');
  assertEmpty(plan(flipped(table, headerPosition(first) + 50), slab), 'table-damaged');
  assertEmpty(plan(flipped(table, headerPosition(first) + 16), slab), 'table-format');
  assertEmpty(plan(table, nothing), 'slab-missing');
  assertEmpty(plan(table, flipped(slab, 50)), 'slab-damaged');
  assertEmpty(plan(table, foreign), 'slab-foreign');
  const other = firstHeader(first.cacheId, { ...shape, blockBytes: 4096, extentBytes: 4096 });
  assertEmpty(plan(tableOf(other), slab), 'block-size');
});
