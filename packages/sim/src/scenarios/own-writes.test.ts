/** A gateway's next read after a write of its own. */
import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { BLOCK, READ_ONLY, TEAM_A, tell } from './story.ts';

test('a put, an upload, a copy, a delete and a multi-delete are seen by the next read', () => {
  tell({}, (story) => {
    const settled = (key: string): void => {
      for (let read = 0; read < 3; read++) story.get(key);
      story.settle();
    };
    story.put('a/table', 2 * BLOCK);
    const other = story.put('a/other', 3 * BLOCK);
    settled('a/table');

    const put = story.write('a/table', story.objectOf(BLOCK));
    equal(story.get('a/table').etag, put.versions[0]!.etag);
    settled('a/table');

    const { object } = story.objectOf(4 * BLOCK);
    const upload = story.write('a/table', {
      operation: 'complete',
      object: { ...object, parts: 2 },
    });
    equal(story.get('a/table').etag, upload.versions[0]!.etag);
    settled('a/table');

    const source = { bucket: 'tables', key: 'a/other' };
    const copy = story.write('a/table', { operation: 'copy', source });
    equal(story.get('a/table').etag, copy.versions[0]!.etag);
    equal(story.get('a/table').size, other.size);
    settled('a/table');

    story.write('a/table', { operation: 'delete' });
    equal(story.get('a/table').status, 404);

    story.write('a/table', story.objectOf(BLOCK));
    settled('a/table');
    settled('a/other');
    story.write('', { operation: 'multi-delete', keys: ['a/table', 'a/other'] });
    deepEqual(
      story.getAll(['a/table', 'a/other']).map(({ status }) => status),
      [404, 404],
    );
  });
});

test('reads through two loops around a write: all that begin after its end see it', () => {
  const loops = [0, 1];
  tell({ cluster: { loops: 2 }, gateway: { gatewayTtlMs: 60_000 } }, (story) => {
    const older = story.put('a/table', BLOCK);
    const read = (loop: number): string => story.get('a/table', { loop }).etag;
    for (const loop of loops) for (let nth = 0; nth < 3; nth++) equal(read(loop), older.etag);
    story.settle();
    for (const writer of loops) {
      const write = story.sendWrite('a/table', story.objectOf(BLOCK), { loop: writer });
      // While it is under way, until S3 has made it and a little longer.
      const during = [...loops, ...loops].map((loop) => story.send('a/table', { loop }));
      story.until(() => write.versions.length === 1);
      during.push(...loops.map((loop) => story.send('a/table', { loop })));
      story.until(() => write.outcome !== 'open');
      const { etag } = write.versions[0]!;
      for (const loop of loops) equal(read(loop), etag);
      // What they brought comes too late to be kept.
      story.until(() => during.every(({ answer }) => answer.end !== 'open'));
      for (const loop of loops) equal(read(loop), etag);
      story.wait(100);
      for (const loop of loops) equal(read(loop), etag);
      // From here on each loop knows by itself.
      const asked = story.fetchesDuring(() => loops.map(read));
      equal(asked, 0);
    }
  });
});

test('a write of unknown outcome through one loop keeps every read of the other confirmed', () => {
  tell({ cluster: { nodes: 2, loops: 2 }, delays: { originMs: 50 } }, (story) => {
    story.put('a/table', BLOCK);
    for (let nth = 0; nth < 3; nth++) story.get('a/table', { loop: 1 });
    story.settle();
    const write = story.sendWrite('a/table', story.objectOf(BLOCK), { loop: 0 });
    story.until(() => write.versions.length === 1 || write.outcome !== 'open');
    story.restart(story.homeOf('a/table'), (home) => {
      home.kill();
    });
    story.until(() => write.outcome !== 'open');
    equal(write.outcome, 'unknown');
    equal(story.get('a/table', { loop: 1 }).etag, write.versions[0]!.etag);
    notEqual(
      story.fetchesDuring(() => story.get('a/table', { loop: 1 })),
      0,
    );
  });
});

test('a first fetch that S3 answered before a write is served and not kept', () => {
  tell({ delays: { originMs: 50 } }, (story) => {
    const older = story.put('a/table', BLOCK);
    const early = story.send('a/table');
    story.until(() => story.fetches('a/table').some(({ decidedAt }) => decidedAt < Infinity));
    const write = story.write('a/table', story.objectOf(BLOCK));
    equal(write.outcome, 'done');
    equal(story.get('a/table').etag, write.versions[0]!.etag);
    story.until(() => early.answer.end !== 'open');
    equal(early.answer.etag, older.etag);
    equal(story.get('a/table').etag, write.versions[0]!.etag);
  });
});

test('a write whose outcome nobody knows keeps its key confirmed on every read', () => {
  tell({ cluster: { nodes: 2 }, delays: { originMs: 50 } }, (story) => {
    const older = story.put('a/table', BLOCK);
    for (let read = 0; read < 3; read++) story.get('a/table');
    story.settle();
    const write = story.sendWrite('a/table', story.objectOf(BLOCK));
    story.until(() => write.versions.length === 1 || write.outcome !== 'open');
    story.restart(story.homeOf('a/table'), (home) => {
      home.kill();
    });
    story.until(() => write.outcome !== 'open');
    equal(write.outcome, 'unknown');
    const { etag } = story.get('a/table');
    equal(etag, write.versions[0]!.etag);
    notEqual(etag, older.etag);
    const confirmed = story.fetchesDuring(() => story.get('a/table'));
    notEqual(confirmed, 0);
  });
});

test('a copy needs the right to read its source, a multi-delete the right to write every key', () => {
  tell({}, (story) => {
    story.put('b/secret', BLOCK);
    story.put('a/mine', BLOCK);
    const source = { bucket: 'tables', key: 'b/secret' };
    const copy = story.write('a/stolen', { operation: 'copy', source }, { credential: TEAM_A });
    deepEqual([copy.outcome, copy.code], ['denied', 'AccessDenied']);
    equal(story.get('a/stolen').status, 404);

    const keys = ['a/mine', 'b/secret'];
    const both = story.write('', { operation: 'multi-delete', keys }, { credential: TEAM_A });
    equal(both.outcome, 'denied');
    equal(story.get('a/mine').status, 200);

    const put = story.write('a/mine', story.objectOf(1), { credential: READ_ONLY });
    equal(put.outcome, 'denied');
  });
});
