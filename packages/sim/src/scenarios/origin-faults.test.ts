/** S3 that fails, and who hears of it. */
import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { BLOCK, tell } from './story.ts';

test('an error of S3 goes to the client that it was asked for, never to those who came afterwards', () => {
  tell({ delays: { originMs: 50 } }, (story) => {
    story.put('a/table', BLOCK);
    story.world.origin.nextFaults.push('internal error');
    const early = story.send('a/table').answer;
    story.until(() => story.fetches('a/table').length === 1);
    const late = story.getAll(['a/table', 'a/table']);
    deepEqual(
      late.map(({ status, received }) => [status, received]),
      [
        [200, BLOCK],
        [200, BLOCK],
      ],
    );
    deepEqual([early.status, early.code], [500, 'InternalError']);
    equal(story.fetches('a/table').length, 2);
  });
});

test('an error is not remembered: the next read asks S3 again', () => {
  tell({}, (story) => {
    story.put('a/table', BLOCK);
    story.world.origin.nextFaults.push('slow down');
    equal(story.get('a/table').status, 503);
    equal(story.get('a/table').status, 200);
  });
});

test('a missing object is not remembered as missing', () => {
  tell({}, (story) => {
    equal(story.get('a/table').status, 404);
    story.put('a/table', BLOCK);
    equal(story.get('a/table').status, 200);
  });
});

test('a body that ends early is made whole or breaks the answer, and nothing short is stored', () => {
  for (const fault of ['short', 'empty'] as const) {
    tell({}, (story) => {
      story.put('a/build', 2 * BLOCK, 'builds');
      story.world.origin.nextFaults.push(fault);
      const broken = story.get('a/build', { bucket: 'builds' });
      equal(story.fetches('a/build', 'builds')[0]!.end, 'broken');
      equal(broken.end === 'finished', broken.received === 2 * BLOCK);
      story.settle();
      const whole = story.get('a/build', { bucket: 'builds' });
      deepEqual([whole.status, whole.received], [200, 2 * BLOCK]);
    });
  }
});

test('answers that no proper S3 gives reach no client', () => {
  for (const fault of ['ignores if-match', 'wrong range', 'unknown length'] as const) {
    tell({}, (story) => {
      story.put('a/table', 3 * BLOCK);
      story.get('a/table');
      story.put('a/table', 3 * BLOCK);
      story.world.origin.nextFaults.push(fault);
      // Whatever comes of it, the checkers see to it that it is nothing but one version's bytes.
      story.get('a/table', { range: `bytes=${BLOCK}-${2 * BLOCK}` });
      story.settle();
      equal(story.get('a/table').status, 200);
    });
  }
});
