import assert from 'node:assert/strict';
import { statSync, truncateSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openRig, slabBytes } from './testing/disk-rig.ts';
import { SlabLength } from './slab-length.ts';

const header = new Uint8Array(4096).fill(5);

interface Watch {
  readonly path: string;
  readonly length: SlabLength;
  /** Where the file was found to end, each time. */
  readonly found: number[];
  isPinned: boolean;
  restored: number;
  /** Time passes until a condition holds. */
  until(condition: () => boolean): Promise<void>;
}

async function watch(context: TestContext): Promise<Watch> {
  const { files, path } = await openRig(context);
  const found: number[] = [];
  let now = 0;
  const watched: Watch = {
    path: join(path, 'slab'),
    length: new SlabLength(files, slabBytes, header, {
      onShort: (bytes) => found.push(bytes),
      mustStayCut: () => watched.isPinned,
      onRestored: () => (watched.restored += 1),
      onRestoreFailed: (errno) => {
        assert.fail(`errno ${errno}`);
      },
    }),
    found,
    isPinned: false,
    restored: 0,
    until: async (condition) => {
      for (let turns = 0; !condition(); turns++) {
        assert.ok(turns < 2000, 'it happens in the end');
        now += 100;
        watched.length.tick(now);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
  };
  return watched;
}

test('a slab that is cut is told once, and whole again when nothing is sent from it any more', async (context) => {
  const watched = await watch(context);
  watched.isPinned = true;
  truncateSync(watched.path, 1 << 20);
  watched.length.suspect(constants.errno.EIO);
  await watched.until(() => watched.found.length > 0);
  assert.ok(watched.length.mayHaveLost((1 << 20) + 1));
  assert.ok(!watched.length.mayHaveLost(1 << 20));
  watched.length.suspect(constants.errno.EIO);
  let turns = 0;
  await watched.until(() => ++turns > 20);
  assert.deepEqual(watched.found, [1 << 20]);
  assert.equal(statSync(watched.path).size, 1 << 20, 'something is still being sent');
  watched.isPinned = false;
  await watched.until(() => watched.restored > 0);
  assert.equal(statSync(watched.path).size, slabBytes);
  assert.ok(!watched.length.mayHaveLost(slabBytes));
});

test('what a second cut takes before the length is back is told too', async (context) => {
  const watched = await watch(context);
  watched.isPinned = true;
  truncateSync(watched.path, 2 << 20);
  watched.length.suspect(constants.errno.EIO);
  await watched.until(() => watched.found.length > 0);
  truncateSync(watched.path, 1 << 20);
  watched.isPinned = false;
  await watched.until(() => watched.restored > 0);
  assert.deepEqual(watched.found, [2 << 20, 1 << 20]);
});

test('errors that say nothing about its length, and a whole file, are no cut', async (context) => {
  const watched = await watch(context);
  truncateSync(watched.path, 1 << 20);
  watched.length.suspect(constants.errno.ENOSPC);
  let turns = 0;
  await watched.until(() => ++turns > 5);
  truncateSync(watched.path, slabBytes);
  watched.length.suspect(constants.errno.EIO);
  await watched.until(() => ++turns > 10);
  assert.deepEqual(watched.found, []);
  assert.equal(watched.restored, 0);
});
