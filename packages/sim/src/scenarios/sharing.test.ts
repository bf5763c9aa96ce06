/** Readers that want the same bytes: what they share, and what they never share. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { BLOCK, NOTHING, TEAM_A, tell } from './story.ts';

const TEN = Array.from({ length: 10 }, () => 'a/table');

test('ten clients that miss at once cost S3 one GET', () => {
  tell({}, (story) => {
    story.put('a/table', 2 * BLOCK);
    const answers = story.getAll(TEN);
    ok(answers.every(({ status, received }) => status === 200 && received === 2 * BLOCK));
    equal(story.fetches('a/table').length, 1);
  });
});

test('a client that comes while a fill is under way joins it', () => {
  tell({ delays: { originMs: 50 } }, (story) => {
    story.put('a/table', 2 * BLOCK);
    const early = story.send('a/table');
    story.until(() => story.fetches('a/table').length === 1);
    const late = story.get('a/table');
    equal(late.received, 2 * BLOCK);
    story.until(() => early.answer.end !== 'open');
    equal(early.answer.received, 2 * BLOCK);
    equal(story.fetches('a/table').length, 1);
  });
});

test('a client that leaves takes nothing from those that wait for the same fill', () => {
  tell({ delays: { originMs: 50 } }, (story) => {
    story.put('a/table', 2 * BLOCK);
    const leaving = story.send('a/table');
    const staying = story.send('a/table');
    story.until(() => story.fetches('a/table').length === 1);
    leaving.leave();
    equal(leaving.answer.end, 'gone');
    story.until(() => staying.answer.end !== 'open');
    deepEqual([staying.answer.end, staying.answer.received], ['finished', 2 * BLOCK]);
    equal(story.fetches('a/table').length, 1);
  });
});

test('when the last client leaves, the fill is given up', () => {
  tell({ delays: { originMs: 50 } }, (story) => {
    story.put('a/table', 2 * BLOCK);
    const only = story.send('a/table');
    story.until(() => story.fetches('a/table').length === 1);
    only.leave();
    story.settle();
    equal(story.fetches('a/table')[0]!.end, 'cut');
  });
});

test('a client without a grant gets nothing of a fill that others wait for, nor of what is stored', () => {
  tell({}, (story) => {
    story.put('b/table', 2 * BLOCK);
    const allowed = story.send('b/table');
    story.until(() => story.fetches('b/table').length === 1);
    for (const credential of [NOTHING, TEAM_A]) {
      const { status, code, received } = story.get('b/table', { credential });
      deepEqual([status, code, received], [403, 'AccessDenied', 0]);
    }
    story.until(() => allowed.answer.end !== 'open');
    equal(allowed.answer.received, 2 * BLOCK);

    story.get('b/table');
    story.settle();
    equal(story.stored, 2);
    equal(story.get('b/table', { credential: TEAM_A }).status, 403);
  });
});

test('of those that wait for the next request one that wants bytes leads: they come with it', () => {
  tell({ delays: { originMs: 50 } }, (story) => {
    const asking = { bucket: 'fresh' };
    story.put('a/table', BLOCK, 'fresh');
    const sent = [story.send('a/table', { ...asking, head: true })];
    story.until(() => story.fetches('a/table', 'fresh').length === 1);
    for (let head = 0; head < 4; head++) {
      sent.push(story.send('a/table', { ...asking, head: true }));
    }
    sent.push(story.send('a/table', asking));
    story.until(() => sent.every(({ answer }) => answer.end !== 'open'));
    equal(sent.at(-1)!.answer.received, BLOCK);
    equal(story.fetches('a/table', 'fresh').length, 2);
  });
});

test('what is asked after a write has overtaken a request is kept again', () => {
  tell({ cluster: { gateways: 2 }, delays: { originMs: 50 } }, (story) => {
    let overtaken = 0;
    for (let at = 0; at < 8; at++) {
      const key = `a/table-${at}`;
      story.put(key, BLOCK);
      const early = story.send(key, { head: true });
      story.until(() => story.fetches(key).length === 1);
      story.write(key, story.objectOf(1));
      if (early.answer.end !== 'open') continue;
      const late = story.send(key, { head: true });
      story.until(() => story.fetches(key).length === 2);
      story.until(() => late.answer.end !== 'open');
      overtaken += 1;
      equal(
        story.fetchesDuring(() => story.get(key, { head: true, gateway: 1 })),
        0,
      );
    }
    ok(overtaken > 0);
  });
});
