/** The thread of a SeedWorker (seed-worker.ts): it is told a seed, runs it and answers with the outcome. */
import { parentPort } from 'node:worker_threads';
import { optionsOf } from '../options.ts';
import { runToOutcome } from './seed-run.ts';

parentPort?.on('message', (seed: number) => {
  parentPort?.postMessage(runToOutcome(optionsOf(seed)));
});
