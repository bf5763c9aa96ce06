import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  cleanEnd,
  decodeSlabHeader,
  decodeTableHeader,
  encodeSlabHeader,
  encodeTableHeader,
  endedClean,
  firstHeader,
  HEADER_BYTES,
  HEADER_COPY_BYTES,
  headerPosition,
  nextRun,
  REMEMBERED_RUNS,
  rowPosition,
  type TableHeader,
} from './table-header.ts';

const shape = { blockBytes: 1 << 20, extentBytes: 1 << 20, slabBytes: 5 * 2 ** 40 + 4096 };
const first = firstHeader({ h0: 0xffff_ffff, h1: 2, h2: 3, h3: 4 }, shape);

function fileOf(...headers: TableHeader[]): Uint8Array {
  const file = new Uint8Array(HEADER_BYTES);
  for (const header of headers) file.set(encodeTableHeader(header), headerPosition(header));
  return file;
}

test('a header says what was written into it', () => {
  deepEqual(decodeTableHeader(fileOf(first)), { kind: 'header', header: first });
  deepEqual(decodeSlabHeader(encodeSlabHeader(first)), { kind: 'header', header: first });
  equal(encodeSlabHeader(first).length, HEADER_BYTES);
});

test('the newer of two copies counts, and the older one when the newer is torn', () => {
  const second = nextRun(first, shape, true);
  notEqual(headerPosition(first), headerPosition(second));
  const file = fileOf(first, second);
  deepEqual(decodeTableHeader(file), { kind: 'header', header: second });
  file[headerPosition(second) + 60]! ^= 1;
  deepEqual(decodeTableHeader(file), { kind: 'header', header: first });
  file[headerPosition(first) + 60]! ^= 1;
  deepEqual(decodeTableHeader(file), { kind: 'damaged' });
});

test('a third header takes the place of the first', () => {
  const second = nextRun(first, shape, true);
  const third = cleanEnd(second);
  equal(headerPosition(third), headerPosition(first));
  deepEqual(decodeTableHeader(fileOf(first, second, third)), { kind: 'header', header: third });
});

test('nothing, too little, another file and another format are told apart', () => {
  deepEqual(decodeTableHeader(new Uint8Array(0)), { kind: 'none' });
  deepEqual(decodeTableHeader(new Uint8Array(HEADER_BYTES)), { kind: 'none' });
  const one = nextRun(first, shape, true);
  equal(headerPosition(one), 0);
  deepEqual(decodeTableHeader(encodeTableHeader(one).subarray(0, 100)), { kind: 'damaged' });
  deepEqual(decodeTableHeader(encodeSlabHeader(one)), { kind: 'damaged' });
  const file = fileOf(one);
  file[16] = 2;
  deepEqual(decodeTableHeader(file), { kind: 'format', format: 2 });
});

test('any one turned bit of a copy is noticed', () => {
  const file = fileOf(nextRun(first, shape, true));
  for (let bit = 0; bit < HEADER_COPY_BYTES * 8; bit++) {
    file[bit >>> 3]! ^= 1 << (bit & 7);
    ok(decodeTableHeader(file).kind !== 'header', `bit ${bit}`);
    file[bit >>> 3]! ^= 1 << (bit & 7);
  }
});

test('the ends of the last runs are remembered, and those before them are not', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 150 }), (ends) => {
      let header = first;
      for (const isClean of ends)
        header = nextRun(isClean ? cleanEnd(header) : header, shape, true);
      ok(!endedClean(header, header.run), 'the present run has not ended');
      ok(!endedClean(header, header.run + 1), 'nor has one that is yet to come');
      for (const [i, isClean] of ends.entries()) {
        const run = i + 1;
        const isRemembered = header.run - run < REMEMBERED_RUNS;
        equal(endedClean(header, run), isClean && isRemembered, `run ${run} of ${header.run}`);
      }
    }),
  );
});

test('a run that trusts nothing forgets every clean end before it, for good', () => {
  const second = nextRun(cleanEnd(first), shape, false);
  ok(!endedClean(second, 1));
  const third = nextRun(cleanEnd(second), shape, true);
  ok(!endedClean(third, 1));
  ok(endedClean(third, 2));
});

test('rows lie behind the header and beside each other', () => {
  ok(rowPosition(1) >= HEADER_BYTES);
  equal(rowPosition(4_000_000) - rowPosition(1), 3_999_999 * 64);
});
