import assert from 'node:assert/strict';
import { readFileSync, statSync, truncateSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32c } from '@s3-accelerator/native/files.ts';
import { openRig, outcome, slabBytes } from './testing/disk-rig.ts';

const page = 4096;

test('a slot that is written tells its checksum, and has it on the disk', async (context) => {
  const { files, fillMemory } = await openRig(context);
  fillMemory.fill(7, 0, 2 * page);
  fillMemory.fill(9, page, 2 * page);
  const written = await outcome<[number, number]>((done) => {
    files.writeSlab(page, 0, 2 * page, 5000, done);
  });
  assert.deepEqual(written, [0, crc32c(fillMemory.subarray(0, 5000))]);
  assert.deepEqual(
    await outcome<[number]>((done) => {
      files.syncSlab(done);
    }),
    [0, 0],
  );
  const read = await outcome<[number, number]>((done) => {
    files.checksumSlab(page, 5000, done);
  });
  assert.deepEqual(read, written);
});

test('rows are written where they belong, and read back; past the end are zeros', async (context) => {
  const { files, path } = await openRig(context);
  const row = (byte: number): Uint8Array => new Uint8Array(64).fill(byte);
  const writes = [3, 1, 3].map((position, index) => ({
    position: position * 64,
    bytes: row(index + 1),
  }));
  const written = await outcome<[number]>((done) => {
    files.writeTable(writes, done);
  });
  assert.equal(written[0], 0);
  assert.equal(statSync(join(path, 'slots')).size, 4 * 64);
  const read = (position: number): Promise<[number, Uint8Array]> =>
    outcome((done) => {
      files.readTable(position, 64, done);
    });
  assert.deepEqual(await read(64), [0, row(2)]);
  assert.deepEqual(await read(3 * 64), [0, row(3)], 'the later one of two');
  assert.deepEqual(await read(64 * 1000), [0, row(0)]);
});

test('a slab that was cut is measured, fails what lies past its end, and gets length and header back', async (context) => {
  const { files, fillMemory, path } = await openRig(context);
  const { EIO } = constants.errno;
  const slab = join(path, 'slab');
  const measure = (): Promise<[number, number]> =>
    outcome((done) => {
      files.measureSlab(done);
    });
  const write = (): Promise<[number, number]> =>
    outcome((done) => {
      files.writeSlab(slabBytes - page, 0, page, 10, done);
    });
  assert.deepEqual(await measure(), [0, slabBytes]);
  truncateSync(slab, 1000);
  assert.deepEqual(await measure(), [0, 1000]);
  assert.equal((await write())[0], EIO);
  const check = await outcome<[number, number]>((done) => {
    files.checksumSlab(page, page, done);
  });
  assert.equal(check[0], EIO);
  const header = new Uint8Array(page).fill(5);
  const restored = await outcome<[number]>((done) => {
    files.restoreSlab(slabBytes, header, done);
  });
  assert.equal(restored[0], 0);
  assert.deepEqual(await measure(), [0, slabBytes]);
  assert.ok(readFileSync(slab).subarray(0, page).equals(header));
  assert.deepEqual(await write(), [0, crc32c(fillMemory.subarray(0, 10))]);
});
