import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { clockSkewMs } from '@s3-accelerator/core/gateway/write-epochs.ts';
import { clockZero, sharedClock } from './shared-clock.ts';

/** A thread that tells its time when it is asked. */
const telling = `
  const { parentPort, workerData } = require('node:worker_threads');
  import(workerData.module).then(({ sharedClock }) => {
    const now = sharedClock(workerData.zero);
    parentPort.on('message', () => parentPort.postMessage(now()));
    parentPort.postMessage(now());
  });`;

test('threads that were started at different times tell the same time', async () => {
  const zero = clockZero();
  const now = sharedClock(zero);
  const module = new URL('./shared-clock.ts', import.meta.url).href;
  const worker = new Worker(telling, { eval: true, workerData: { module, zero } });
  await once(worker, 'message');
  for (let nth = 0; nth < 100; nth++) {
    const before = now();
    worker.postMessage('tell');
    const [told] = (await once(worker, 'message')) as [number];
    const after = now();
    assert.ok(told > before - clockSkewMs && told < after + clockSkewMs, `${told} not in between`);
  }
  await worker.terminate();
});

test('the clock begins at the zero', () => {
  const now = sharedClock(clockZero());
  const first = now();
  assert.ok(first >= -clockSkewMs && first < 10_000, `${first} ms after it was made`);
});
