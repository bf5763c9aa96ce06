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
