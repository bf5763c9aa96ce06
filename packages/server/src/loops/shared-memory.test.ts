import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { clockSkewMs } from '@s3-accelerator/core/gateway/write-epochs.ts';
import { newSharedMemory, sharedParts } from './shared-memory.ts';

const hash = { h0: 1, h1: 2, h2: 3, h3: 4 };

/** A thread that notes a write and takes a connection whenever it is asked, and tells its time. */
const writing = `
  const { parentPort, workerData } = require('node:worker_threads');
  import(workerData.module).then(({ sharedParts }) => {
    const { epochs, connections } = sharedParts(workerData.memory, { maxConnections: 2 });
    parentPort.on('message', () => {
      const now = performance.now();
      epochs.raise(workerData.hash, now);
      parentPort.postMessage({ now, isTaken: connections.take() });
    });
    parentPort.postMessage('ready');
  });`;

test('threads tell the same time, and see each other’s writes and connections', async () => {
  const memory = newSharedMemory();
  const { epochs, connections } = sharedParts(memory, { maxConnections: 2 });
  const module = new URL('./shared-memory.ts', import.meta.url).href;
  const worker = new Worker(writing, { eval: true, workerData: { module, memory, hash } });
  await once(worker, 'message');
  assert.equal(connections.take(), true);
  for (const wanted of [true, false, false]) {
    const before = performance.now();
    worker.postMessage('write');
    const [told] = (await once(worker, 'message')) as [{ now: number; isTaken: boolean }];
    const after = performance.now();
    assert.ok(told.now > before - clockSkewMs && told.now < after + clockSkewMs);
    assert.ok(epochs.since(hash) > told.now);
    assert.equal(told.isTaken, wanted);
  }
  await worker.terminate();
});
