import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import type { Hash128 } from '../base/hash.ts';
import { clockSkewMs, epochMs, WriteEpochs } from './write-epochs.ts';

const hashOf = (n: number): Hash128 => ({ h0: n, h1: n, h2: n, h3: n });
const a = hashOf(1);
const b = hashOf(2);
const shared = (slots: number): Uint32Array => new Uint32Array(new SharedArrayBuffer(4 * slots));
const moments = fc.double({ min: 0, max: 6e10, noNaN: true });

test('of an object that nobody wrote everything counts', () => {
  const epochs = new WriteEpochs(shared(1024), 0);
  epochs.raise(a, 5);
  assert.equal(epochs.since(b), -Infinity);
});

test('what counts begins after the write, whatever the clocks differ, and soon', () => {
  fc.assert(
    fc.property(moments, (moment) => {
      const epochs = new WriteEpochs(shared(16), 0);
      epochs.raise(a, moment);
      assert.ok(epochs.since(a) > moment + clockSkewMs);
      assert.ok(epochs.since(a) <= moment + clockSkewMs + epochMs);
    }),
  );
});

test('of all writes of an object the one whose effect may come last decides, in whichever order they come', () => {
  fc.assert(
    fc.property(fc.array(moments, { minLength: 1 }), (times) => {
      const words = shared(16);
      const loops = [new WriteEpochs(words, 7), new WriteEpochs(words, 7)] as const;
      for (const [i, time] of times.entries()) loops[i % 2 === 0 ? 0 : 1].raise(a, time);
      const alone = new WriteEpochs(shared(16), 7);
      alone.raise(a, Math.max(...times));
      for (const loop of loops) assert.equal(loop.since(a), alone.since(a));
    }),
  );
});

/** A thread that raises the one slot over and over, and each time looks whether it stands at least there. */
const raising = `
  const { parentPort, workerData } = require('node:worker_threads');
  import(workerData.module).then(({ WriteEpochs }) => {
    const epochs = new WriteEpochs(workerData.words, 0);
    const hash = { h0: 1, h1: 2, h2: 3, h3: 4 };
    let lost = 0;
    // Both at the same time.
    Atomics.add(workerData.ready, 0, 1);
    while (Atomics.load(workerData.ready, 0) < 2);
    epochs.raise(hash, 0);
    for (let round = 0; round < 500_000; round++) {
      // Just above where it stands: both want to be the highest.
      const moment = epochs.since(hash) + 16 * (round % 3);
      epochs.raise(hash, moment);
      if (epochs.since(hash) <= moment) lost += 1;
    }
    parentPort.postMessage(lost);
  });`;

test('no raise is lost when threads raise one slot at the same time', async () => {
  const words = shared(1);
  const module = new URL('./write-epochs.ts', import.meta.url).href;
  const workerData = { module, words, ready: shared(1) };
  const threads = [0, 1].map(() => new Worker(raising, { eval: true, workerData }));
  const lost = await Promise.all(threads.map((thread) => once(thread, 'message')));
  assert.deepEqual(lost, [[0], [0]]);
});

test('objects that share a slot share its epoch', () => {
  const epochs = new WriteEpochs(shared(1), 3);
  epochs.raise(a, 100);
  assert.equal(epochs.since(b), epochs.since(a));
});

test('the seed decides which objects share a slot', () => {
  const sharing = (seed: number): string => {
    const epochs = new WriteEpochs(shared(64), seed);
    epochs.raise(a, 1);
    const found = [];
    for (let n = 2; n < 1000; n++) if (epochs.since(hashOf(n)) > 0) found.push(n);
    assert.ok(found.length > 0 && found.length < 60, `${found.length} of 998 share a slot of 64`);
    return found.join();
  };
  assert.notEqual(sharing(1), sharing(2));
});

test('past the last epoch nothing counts any more, rather than too much', () => {
  const epochs = new WriteEpochs(shared(16), 0);
  epochs.raise(a, 0xffff_fff0 * epochMs);
  assert.ok(epochs.since(a) < Infinity);
  epochs.raise(a, 0x1_0000_0000 * epochMs);
  assert.equal(epochs.since(a), Infinity);
  epochs.raise(a, 5);
  assert.equal(epochs.since(a), Infinity);
});
