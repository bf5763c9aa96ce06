import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartProgress } from './start-progress.ts';

test('a start that takes long says how far it is, once in a while', () => {
  for (const [everyMs, expected] of [
    [0, [33, 100]],
    [60_000, []],
  ] as const) {
    const said: number[] = [];
    const progress = new StartProgress((percent) => said.push(percent), everyMs);
    progress.tell(1, 3);
    progress.tell(3, 3);
    assert.deepEqual(said, expected);
  }
});
