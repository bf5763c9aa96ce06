/** What gets onto the disk, and what stays there. */
import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { BLOCK, tell } from './story.ts';

test('a block is stored on its second read and served from disk on its third', () => {
  tell({}, (story) => {
    story.put('a/table', 3 * BLOCK);
    equal(story.get('a/table').status, 200);
    story.settle();
    equal(story.stored, 0);

    story.get('a/table');
    story.settle();
    equal(story.stored, 3);

    const fetches = story.fetchesDuring(() => story.get('a/table'));
    equal(fetches, 0);
  });
});

test('a bucket that admits on first read is served from disk on the second', () => {
  tell({}, (story) => {
    story.put('a/build', 3 * BLOCK, 'builds');
    story.get('a/build', { bucket: 'builds' });
    story.settle();
    equal(story.stored, 3);
    equal(
      story.fetchesDuring(() => story.get('a/build', { bucket: 'builds' })),
      0,
    );
  });
});

test('reads that lie further apart than two windows are first reads each', () => {
  tell({ cluster: { doorkeeperWindowMs: 1_000 } }, (story) => {
    story.put('a/table', BLOCK);
    for (let read = 0; read < 4; read++) {
      story.get('a/table');
      story.wait(2_001);
    }
    equal(story.stored, 0);
  });
});

test('a scan of three times the cache leaves the hot set where it is', () => {
  tell({ cluster: { storeBytes: 16 * BLOCK } }, (story) => {
    for (let i = 0; i < 10; i++) story.put(`a/hot-${i}`, BLOCK);
    for (let i = 0; i < 48; i++) story.put(`a/scanned-${i}`, BLOCK);
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 10; i++) story.get(`a/hot-${i}`);
      story.settle();
    }
    equal(story.stored, 10);
    for (let i = 0; i < 48; i++) story.get(`a/scanned-${i}`);
    equal(
      story.fetchesDuring(() => {
        for (let i = 0; i < 10; i++) equal(story.get(`a/hot-${i}`).received, BLOCK);
      }),
      0,
    );
  });
});

test('a scan that reads everything twice takes the small queue, not the hot set', () => {
  tell({ cluster: { storeBytes: 32 * BLOCK } }, (story) => {
    for (let i = 0; i < 16; i++) story.put(`a/hot-${i}`, BLOCK, 'models');
    for (let i = 0; i < 96; i++) story.put(`a/scanned-${i}`, BLOCK, 'models');
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 16; i++) story.get(`a/hot-${i}`, { bucket: 'models' });
      story.settle();
    }
    for (let i = 0; i < 96; i++) {
      story.get(`a/scanned-${i}`, { bucket: 'models' });
      story.get(`a/scanned-${i}`, { bucket: 'models' });
      story.settle();
    }
    const { evictions } = story.world.nodes[0]!.run!.store.counters;
    ok(evictions > 50, `${evictions} evictions`);
    equal(
      story.fetchesDuring(() => {
        for (let i = 0; i < 16; i++) story.get(`a/hot-${i}`, { bucket: 'models' });
      }),
      0,
    );
  });
});
