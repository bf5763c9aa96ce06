/** Objects that change behind the cache's back while it reads them. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { BLOCK, tell } from './story.ts';

test('an object that changed is read anew before the answer begins: the 412 stays inside', () => {
  tell({}, (story) => {
    story.put('a/table', 2 * BLOCK);
    story.get('a/table');
    const newer = story.put('a/table', 3 * BLOCK);
    // What is known of the object is still fresh: the fill finds out.
    const { status, etag, received } = story.get('a/table');
    deepEqual([status, etag, received], [200, newer.etag, 3 * BLOCK]);
    ok(story.fetches('a/table').some(({ status }) => status === 412));
    equal(story.world.gateways[0]!.run!.gateway.counters.restarts, 1);
  });
});

test('a version that was gone and comes back is answered to whoever found it gone', () => {
  tell({ gateway: { gatewayTtlMs: 60_000 }, delays: { originMs: 50 } }, (story) => {
    const { oracle, queue } = story.world;
    const older = story.put('a/table', BLOCK);
    story.get('a/table');
    story.put('a/table', BLOCK);
    const { answer } = story.send('a/table');
    story.until(() => story.fetches('a/table').some(({ status }) => status === 412));
    const { size, content } = older;
    oracle.put(queue.now, 'tables', 'a/table', { size, content, parts: 0, isWeak: false });
    story.until(() => answer.end !== 'open');
    deepEqual([answer.etag, answer.received], [older.etag, BLOCK]);
  });
});

test('an object that changes in the middle of an answer cuts it short', () => {
  tell({ delays: { clientMs: 10 } }, (story) => {
    story.put('a/table', 5 * BLOCK);
    story.get('a/table', { range: `bytes=0-${BLOCK - 1}` });
    const { answer } = story.send('a/table');
    story.until(() => answer.received >= BLOCK);
    story.put('a/table', 5 * BLOCK);
    story.until(() => answer.end !== 'open');
    equal(answer.end, 'cut');
    ok(answer.received < 5 * BLOCK);
  });
});

test('an object that never stops changing is read from S3 itself in the end', () => {
  tell({ cluster: { nodes: 3 }, gateway: { maxRestarts: 3 } }, (story) => {
    const size = 12 * BLOCK;
    // A suffix that begins on another node than the home: what the home learns is old when the owner asks S3.
    const key = ['a/0', 'a/1', 'a/2', 'a/3', 'a/4'].find(
      (each) => story.ownerOf(each, size, 4) !== story.homeOf(each),
    )!;
    story.put(key, size);
    story.get(key);
    story.put(key, size);
    const { answer } = story.send(key, { range: `bytes=-${8 * BLOCK}` });
    const seen = story.fetches(key);
    let decided = seen.length;
    story.until(() => {
      const now = seen.filter(({ decidedAt }) => decidedAt < Infinity).length;
      if (now > decided && answer.status === 0) story.put(key, size);
      decided = now;
      return answer.end !== 'open';
    });
    deepEqual([answer.end, answer.received, answer.isPassedThrough], ['finished', 8 * BLOCK, true]);
    equal(story.world.gateways[0]!.run!.gateway.counters.restarts, 3);
  });
});

test('a gateway that knows an older version finds the newer one through the home', () => {
  tell({ cluster: { gateways: 2 }, gateway: { gatewayTtlMs: 60_000 } }, (story) => {
    story.put('a/table', 2 * BLOCK);
    for (let read = 0; read < 3; read++) story.get('a/table', { gateway: 0 });
    story.settle();
    const write = story.write('a/table', story.objectOf(3 * BLOCK), { gateway: 1 });
    equal(write.outcome, 'done');
    // The other gateway knows of its own write at once.
    equal(story.get('a/table', { gateway: 1 }).etag, write.versions[0]!.etag);
    // This one may serve the older version as long as the bucket allows, and afterwards never.
    story.wait(60_001);
    equal(story.get('a/table', { gateway: 0 }).etag, write.versions[0]!.etag);
  });
});

test('a bucket without a lifetime is confirmed on every read, and its blocks stay', () => {
  tell({}, (story) => {
    story.put('a/manifest', 2 * BLOCK, 'fresh');
    for (let read = 0; read < 2; read++) story.get('a/manifest', { bucket: 'fresh' });
    story.settle();
    equal(story.stored, 2);
    const before = story.fetches('a/manifest', 'fresh').length;
    equal(story.get('a/manifest', { bucket: 'fresh' }).received, 2 * BLOCK);
    const [confirmation, ...others] = story.fetches('a/manifest', 'fresh').slice(before);
    deepEqual([confirmation!.status, others.length], [304, 0]);
    const newer = story.put('a/manifest', BLOCK, 'fresh');
    equal(story.get('a/manifest', { bucket: 'fresh' }).etag, newer.etag);
  });
});
