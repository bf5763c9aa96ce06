/** Bugs that seeds of the simulator found, each with its seed and what happened. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { HEADER_BYTES } from '@s3-accelerator/core/journal/table-header.ts';
import { Ring } from '@s3-accelerator/core/ring.ts';
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

// Seed 36: a gateway that reads ahead asks for several pieces at once. Those too far ahead of the stream that brought the
// first one were fetched once more by a request of their own, and having been asked for twice they were stored: every large
// object that was read once.
test('pieces that one read asks for in parallel come in one request and count as one read', () => {
  const sizes = {
    blockBytes: BLOCK,
    chunkBytes: 16 * BLOCK,
    tailBytes: 16 * BLOCK,
    wholeBytes: 32 * BLOCK,
  };
  const setting = {
    cluster: { sizes },
    gateway: { readAheadBlocks: 8, maxAheadReads: 64, maxAheadBlocks: 64 },
    // Over one link, as small answers go, requests don't overtake each other.
    delays: { originMs: 20, networkMs: 0 },
  };
  tell(setting, (story) => {
    story.put('a/scan', 16 * BLOCK);
    equal(story.get('a/scan').received, 16 * BLOCK);
    story.settle();
    equal(story.fetches('a/scan').length, 1);
    equal(story.world.history.admissions.length, 0);
    story.get('a/scan');
    story.settle();
    equal(story.world.history.admissions.length, 16);
  });
});

// Seed 2, when its reads came in another order: a slab was cut and its node ended clean before anybody noticed. The next start
// gave the file its length back and left out the rows of what was lost, but crashed before that was durable. The start after
// that found rows of a run that had ended clean, in a slab of the right length, and served zeros.
test('rows of what was cut off a slab come back from a crash as rows that nobody trusts', () => {
  tell({ cluster: { nodes: 1 } }, (story) => {
    const version = story.put('a/table', BLOCK, 'builds');
    const read = () => story.get('a/table', { bucket: 'builds' });
    read();
    story.settle();
    equal(story.fetchesDuring(read), 0, 'the block is stored');
    const node = story.homeOf('a/table', 'builds');
    story.restart(node, (host) => {
      host.stop();
      story.until(() => host.run === null);
      host.files.setSlabBytes(HEADER_BYTES);
    });
    story.restart(node, (host) => {
      host.crash(100);
    });
    equal(read().received, version.size);
  });
});

// Seed 2714: a slow client's fetch was given up between two of its pieces, and what was left came by a second one. The first had
// marked every block that it was planned to bring, so the second stored them: a one-time read got onto the disk.
for (const isKnown of [false, true]) {
  test(`a client that stalls until its fetch is given up reads its object once${isKnown ? ', of which a HEAD was made before' : ''}`, () => {
    tell({ cluster: { nodes: 1 }, node: { idleFetchMs: 50 } }, (story) => {
      story.put('a/export', BLOCK + 1);
      if (isKnown) story.get('a/export', { head: true });
      equal(story.get('a/export', { stallMs: 400 }).received, BLOCK + 1);
      story.settle();
      ok(story.fetches('a/export').length > 1, 'the first fetch was given up');
      const stored = story.world.history.admissions.map(({ block }) => block.index);
      // What had come of a block when the fetch was given up is asked for once more: that block alone may look read twice.
      ok(!stored.includes(1), 'its last byte was stored');
    });
  });
}

// Seed 341: all nodes of a cluster ended one after the other, and began a new one that knew nothing of the changes before. Its ring came to
// the same epoch as the last one of the old cluster, which a gateway had kept, but with a lesser hash. Nodes took only higher epochs for
// unknown, so nobody outbid the old ring: the gateway placed by it for ever, and asked a node that was gone.
test('a gateway that outlived a whole cluster comes to the ring of the next one', () => {
  tell({ cluster: { nodes: 2 } }, (story) => {
    story.put('a/table', BLOCK);
    const { version, members } = story.world.ring;
    story.world.gateways[0]!.run!.cluster.ring.advance(new Ring(version + 1, members.slice(1)));
    ok(!story.world.isSettled);
    story.agree();
    equal(story.world.gateways[0]!.run!.cluster.ring.current.members.length, 2);
    equal(story.get('a/table').status, 200);
  });
});

// Seed 729: a previous owner that had been silent was to be tried by one read once its rest was over. That read found no memory and streamed
// from S3 without asking anybody, but the rest began anew: with little memory the node was left alone again and again.
test('a read that finds no memory leaves it to the next one to try a node that was silent', () => {
  const setting = {
    cluster: { nodes: 1, spareNodes: 1, storeBytes: 64 * BLOCK },
    node: { fillBudgetBlocks: 1 },
    delays: { originMs: 50 },
  };
  tell(setting, (story) => {
    const { nodes, network, history } = story.world;
    const [old, added] = nodes;
    const asking = { bucket: 'models' };
    const keys = Array.from({ length: 16 }, (_, at) => `a/part-${at}`);
    for (const key of keys) story.put(key, BLOCK, 'models');
    for (const key of [...keys, ...keys]) story.get(key, asking);
    story.settle();
    story.add(added!);
    const [silent, streamed, last] = keys.filter((key) => story.homeOf(key, 'models') === added);
    const other = Array.from({ length: 50 }, (_, at) => `b/other-${at}`).find(
      (key) => story.homeOf(key) === added,
    );
    story.write(other!, story.objectOf(BLOCK));
    const mend = story.fault('the new node can’t hear the old one');
    network.block(old!.place, added!.place, 1000);
    story.get(silent!, asking);
    story.wait(12_000);
    mend();
    const asked = history.peerAsks.length;
    ok(asked > 0);
    // A read after a write asks no previous home: it goes to S3, and takes what memory there is.
    story.send(other!);
    story.until(() => added!.run!.node.levels().fillBytes > 0);
    story.get(streamed!, asking);
    equal(history.of('models', streamed!).peerAsks.length, 0, 'it found no memory');
    equal(
      story.fetchesDuring(() => story.get(last!, asking)),
      0,
    );
    equal(history.of('models', last!).peerAsks.length, 1);
  });
});
