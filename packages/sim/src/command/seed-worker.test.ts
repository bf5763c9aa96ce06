/** Threads that misbehave cost their seed and nothing else. */
import { equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { SeedWorker } from './seed-worker.ts';

/** Answers seeds; 1 throws, 2 never ends, 3 leaves. */
const program = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', (seed) => {
      if (seed === 1) throw new Error('no such thing');
      if (seed === 2) for (;;);
      if (seed === 3) process.exit(9);
      parentPort.postMessage({ failure: null });
    });
  `)}`,
);

test('a thread that throws, never ends or leaves fails its seed, and the next one runs', async () => {
  const worker = new SeedWorker(program, 1_000);
  const failureOf = async (seed: number): Promise<string> => {
    const result = await worker.run(seed);
    equal(result.seed, seed);
    const { failure } = result.outcome;
    return failure === null ? 'none' : `${failure.checker}: ${failure.what}`;
  };
  for (let seed = 10; seed < 20; seed++) equal(await failureOf(seed), 'none');
  match(await failureOf(1), /^thread: Error: no such thing/);
  equal(await failureOf(4), 'none');
  equal(await failureOf(2), 'time: the run took longer than 1 s');
  equal(await failureOf(5), 'none');
  equal(await failureOf(3), 'thread: the thread ended with code 9');
  equal(await failureOf(6), 'none');
  await worker.close();
});
