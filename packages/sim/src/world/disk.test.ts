import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import { ModelDisk, type ModelFile } from './disk.ts';
import { EventQueue } from './event-queue.ts';

const sector = 512;

function setUp(seed = 1): { queue: EventQueue; disk: ModelDisk; file: ModelFile } {
  const queue = new EventQueue();
  const disk = new ModelDisk(queue, new Prng(seed, 0), 1);
  return { queue, disk, file: disk.allocate(8 * sector) };
}

function settle(queue: EventQueue): void {
  while (queue.step());
}

const ones = (): Uint8Array => new Uint8Array(4 * sector).fill(1);

describe('the model disk', () => {
  test('shows a write once it is done, and loses it in a crash before a sync', () => {
    const { queue, disk, file } = setUp();
    const outcomes: number[] = [];
    disk.write(file, sector, ones, 0, (errno) => outcomes.push(errno));
    assert.equal(file.seen[sector], 0);
    settle(queue);
    assert.deepEqual(outcomes, [0]);
    assert.equal(file.seen[sector], 1);
    disk.crash(1);
    assert.ok(file.seen.every((byte) => byte === 0));
  });

  test('keeps what a sync covered, and only that', () => {
    const { queue, disk, file } = setUp();
    const twos = (): Uint8Array => new Uint8Array(sector).fill(2);
    disk.write(file, 0, ones, 0, () => {
      disk.sync(file, 0, () => undefined);
      // Written after the sync was asked for: nobody promised anything of it.
      disk.write(file, 6 * sector, twos, 0, () => undefined);
    });
    settle(queue);
    assert.equal(file.seen[6 * sector], 2);
    disk.crash(1);
    assert.ok(file.seen.subarray(0, 4 * sector).every((byte) => byte === 1));
    assert.equal(file.seen[6 * sector], 0);
  });

  // Seed 11700: a node cleared a row, the sync failed, and its next life saw an empty row where the disk still had the old one.
  test('shows what a failed sync dropped until the file is read anew', () => {
    let dropped = 0;
    for (let seed = 0; seed < 20; seed++) {
      const { queue, disk, file } = setUp(seed);
      disk.write(file, 0, ones, 0, () => {
        disk.sync(file, 5, () => undefined);
      });
      settle(queue);
      disk.abandon();
      assert.equal(file.seen[0], 1, 'the page cache outlives the process');
      disk.reread(file);
      assert.deepEqual(file.seen, file.durable);
      if (file.durable[0] === 0) dropped += 1;
    }
    assert.ok(dropped > 0 && dropped < 20, `${dropped} of 20`);
  });

  test('tears writes in sectors', () => {
    const torn = new Set<string>();
    for (let seed = 0; seed < 50; seed++) {
      const { queue, disk, file } = setUp(seed);
      disk.write(file, 0, ones, 0, () => undefined);
      settle(queue);
      disk.crash(0.5);
      const sectors = [0, 1, 2, 3].map((index) => {
        const bytes = file.seen.subarray(index * sector, (index + 1) * sector);
        assert.ok(bytes.every((byte) => byte === bytes[0]));
        return bytes[0];
      });
      assert.deepEqual(file.seen, file.durable);
      torn.add(sectors.join(''));
    }
    assert.ok(torn.size > 8);
  });

  test('lets parts of a write that is under way survive a crash, and never reports it', () => {
    const { queue, disk, file } = setUp();
    let reports = 0;
    disk.write(file, 0, ones, 0, () => (reports += 1));
    disk.crash(0);
    assert.equal(file.seen[0], 1);
    settle(queue);
    assert.equal(reports, 0);
  });

  test('forgets what a failed sync dropped, whatever a later one says', () => {
    const kept = new Set<number>();
    for (let seed = 0; seed < 20; seed++) {
      const { queue, disk, file } = setUp(seed);
      const outcomes: number[] = [];
      disk.write(file, 0, ones, 0, () => {
        disk.sync(file, 5, (errno) => {
          outcomes.push(errno);
          disk.sync(file, 0, (later) => outcomes.push(later));
        });
      });
      settle(queue);
      assert.deepEqual(outcomes, [5, 0]);
      assert.equal(file.seen[0], 1);
      disk.crash(0);
      kept.add(file.seen.at(0) ?? -1);
    }
    assert.deepEqual([...kept].sort(), [0, 1]);
  });

  test('keeps the page cache when only the process goes', () => {
    const { queue, disk, file } = setUp();
    disk.write(file, 0, ones, 0, () => undefined);
    settle(queue);
    disk.abandon();
    assert.equal(file.seen[0], 1);
  });
});
