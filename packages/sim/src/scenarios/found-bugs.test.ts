/** Bugs that seeds of the simulator found, each with its seed and what happened. */
import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { BLOCK, tell } from './story.ts';

// Seed 176: an object was written over with the very same bytes. Its ETag stayed, so S3 confirmed what the home knew with a
// 304, and the home went on telling the older Last-Modified (and would have told older headers) for ever.
test('the same bytes stored again are told with their new date', () => {
  tell({}, (story) => {
    const { oracle, queue } = story.world;
    const older = story.put('a/table', 2 * BLOCK, 'fresh');
    const read = (range: string | null) => story.get('a/table', { bucket: 'fresh', range });
    for (let reads = 0; reads < 3; reads++) equal(read(null).lastModified, older.lastModified);
    story.wait(2000);
    const { size, content } = older;
    const again = { size, content, parts: 0, isWeak: false };
    const { version } = oracle.put(queue.now, 'fresh', 'a/table', again);
    deepEqual(
      [version!.etag, version!.lastModified],
      [older.etag, older.lastModified + 2],
      'only the date tells them apart',
    );
    const fetches = story.fetchesDuring(() => {
      equal(read(null).lastModified, version!.lastModified);
      equal(read('bytes=5-9').lastModified, version!.lastModified);
    });
    // The first read: S3 says that nothing changed, and is asked what it has. The second: that nothing changed. No bytes move.
    equal(fetches, 3);
  });
});
