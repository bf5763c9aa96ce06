// Three nodes are restarted one after the other under load with writes: no request fails, and what is hot stays warm.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeRestart, rollingRestart } from '../testing/rolling-restart.ts';

test('a rolling restart under load fails no request, and the hot set is warm as each node is back', async (context) => {
  const restart = await rollingRestart({
    hotObjects: 200,
    readsPerSecond: 300,
    writesPerSecond: 20,
    rounds: 1,
    restMs: 1000,
  });
  context.diagnostic(describeRestart(restart));
  const { reads, writes, hotBytes, bytesWhileThere } = restart;
  assert.deepEqual([reads.errors, writes.errors], [[], []]);
  assert.ok(bytesWhileThere <= hotBytes / 100, `${bytesWhileThere} of ${hotBytes} bytes`);
});
