import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  decodeSlabHeader,
  decodeTableHeader,
  firstHeader,
  HEADER_BYTES,
} from '@s3-accelerator/core/journal/table-header.ts';
import { DataDirectory } from './data-directory.ts';
import { slabBytes, slotsBytes, temporaryDirectory } from './testing/disk-rig.ts';

function openAt(path: string, bytes: number): DataDirectory {
  const directory = DataDirectory.open(path);
  try {
    directory.resizeSlab(bytes);
  } catch (error) {
    directory.close();
    throw error;
  }
  return directory;
}

const cacheId = { h0: 1, h1: 2, h2: 3, h3: 4 };
const header = firstHeader(cacheId, {
  blockBytes: 1 << 20,
  extentBytes: 1 << 20,
  slabBytes: slotsBytes,
});

test('a new directory is made with its files, the slab at its full size', (context) => {
  const path = join(temporaryDirectory(context), 'deep', 'data');
  const directory = openAt(path, slabBytes);
  assert.equal(directory.slabBytesFound, 0);
  assert.equal(directory.slabHead.length, 0);
  assert.equal(directory.tableHead.length, 0);
  const { size, blocks, mode } = statSync(join(path, 'slab'));
  assert.equal(size, slabBytes);
  assert.ok(blocks * 512 >= slabBytes, 'allocated');
  assert.equal(mode & 0o777, 0o600);
  assert.equal(directory.lendsPages, true, 'this disk lends pages');
  directory.close();
});

test('headers that were written are found again', (context) => {
  const path = temporaryDirectory(context);
  const first = openAt(path, slabBytes);
  first.writeHeader(header);
  first.close();
  const again = openAt(path, slabBytes);
  context.after(() => {
    again.close();
  });
  assert.deepEqual(decodeTableHeader(again.tableHead), { kind: 'header', header });
  assert.deepEqual(decodeSlabHeader(again.slabHead), { kind: 'header', header });
  assert.equal(again.slabBytesFound, slabBytes);
});

test('rows that are to be forgotten are gone from the file', (context) => {
  const path = temporaryDirectory(context);
  writeFileSync(join(path, 'slots'), new Uint8Array(100_000).fill(7));
  const directory = openAt(path, slabBytes);
  context.after(() => {
    directory.close();
  });
  const rows = new Uint8Array(200_000);
  assert.equal(directory.readTable(HEADER_BYTES, rows), 100_000 - HEADER_BYTES);
  directory.forgetRows();
  directory.writeHeader(header);
  assert.equal(directory.readTable(HEADER_BYTES, rows), 0);
});

test('a slab grows, shrinks, and tells what was cut off before', (context) => {
  const path = temporaryDirectory(context);
  const foundAt = (bytes: number): number => {
    const directory = openAt(path, bytes);
    directory.close();
    assert.equal(statSync(join(path, 'slab')).size, bytes);
    return directory.slabBytesFound;
  };
  foundAt(slabBytes);
  writeFileSync(join(path, 'slab'), 'first bytes', { flag: 'r+' });
  assert.equal(foundAt(2 * slabBytes), slabBytes);
  assert.equal(foundAt(slabBytes), 2 * slabBytes);
  truncateSync(join(path, 'slab'), 10_000);
  assert.equal(foundAt(slabBytes), 10_000);
  assert.equal(readFileSync(join(path, 'slab')).toString('latin1', 0, 11), 'first bytes');
});

test('a second opening is refused until the first is closed', (context) => {
  const path = temporaryDirectory(context);
  const first = openAt(path, slabBytes);
  assert.throws(() => openAt(path, slabBytes), /used by another process/);
  first.close();
  openAt(path, slabBytes).close();
});

test('what can’t be opened says what to do, and keeps nothing open', (context) => {
  const path = temporaryDirectory(context);
  assert.throws(() => openAt(path, 2 ** 50), /ENOSPC|EFBIG/);
  assert.throws(() => openAt(path, 2 ** 50), /[Ll]ower the capacity/);
  openAt(path, slabBytes).close();
  const blocked = temporaryDirectory(context);
  mkdirSync(join(blocked, 'slots'));
  assert.throws(() => DataDirectory.open(blocked), /Something else is in that place/);
  writeFileSync(join(path, 'file'), '');
  assert.throws(() => DataDirectory.open(join(path, 'file', 'data')), /no directory/);
});
