// The rolling restart of three nodes at the pace that is promised: 1,000 reads of mixed sizes a second, with 100 writes that are read back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeRestart, rollingRestart } from '../testing/rolling-restart.ts';

test('two rolling restarts at 1,200 requests a second fail none, and the hot set is warm as each node is back', async (context) => {
  const restart = await rollingRestart({
    hotObjects: 2000,
    readsPerSecond: 1000,
    writesPerSecond: 100,
    rounds: 2,
    restMs: 5000,
  });
  context.diagnostic(describeRestart(restart));
  const { reads, writes, hotBytes, bytesWhileThere } = restart;
  assert.deepEqual([reads.errors, writes.errors], [[], []]);
  const rate = Math.round(reads.requestsPerSecond + writes.requestsPerSecond);
  assert.ok(rate >= 1000, `${rate} requests a second: this machine is too busy for the proof`);
  assert.ok(bytesWhileThere <= hotBytes / 100, `${bytesWhileThere} of ${hotBytes} bytes`);
});
