import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartProgress } from './start-progress.ts';

test('a start that takes long says how far it is, once in a while', async () => {
  const { signal } = new AbortController();
  for (const [everyMs, expected] of [
    [0, [33, 100]],
    [60_000, []],
  ] as const) {
    const said: number[] = [];
    const progress = new StartProgress((percent) => said.push(percent), signal, everyMs);
    await progress.tell(1, 3);
    await progress.tell(3, 3);
    assert.deepEqual(said, expected);
  }
});

test('it ends after the piece during which the process was asked to stop', async () => {
  const stopping = new AbortController();
  const progress = new StartProgress(() => undefined, stopping.signal);
  await progress.tell(1, 3);
  setImmediate(() => {
    stopping.abort();
  });
  await assert.rejects(progress.tell(2, 3), { name: 'AbortError' });
});
