/**
 * A thread that runs seeds, one at a time.
 *
 * A seed that never ends, or brings its thread down, is a failed seed: the thread is replaced and the rest goes on.
 */
import { Worker } from 'node:worker_threads';
import { failedOutcome, type SeedResult } from './seed-run.ts';

export class SeedWorker {
  readonly #program: URL;
  readonly #limitMs: number;
  #thread: Worker | null = null;

  /** `program` is the thread's; a seed that takes longer than `limitMs` has failed. */
  constructor(program: URL, limitMs: number) {
    this.#program = program;
    this.#limitMs = limitMs;
  }

  /** Runs a seed. Never rejects. */
  run(seed: number): Promise<SeedResult> {
    this.#thread ??= new Worker(this.#program);
    const thread = this.#thread;
    return new Promise((resolve) => {
      const finish = (result: SeedResult, isBroken: boolean): void => {
        clearTimeout(limit);
        thread.removeAllListeners();
        if (isBroken) {
          this.#thread = null;
          // Nothing more is wanted of it, not even to know when it has gone.
          void thread.terminate();
        }
        resolve(result);
      };
      const fail = (checker: string, what: string): void => {
        finish({ seed, outcome: failedOutcome(checker, what) }, true);
      };
      const limit = setTimeout(() => {
        fail('time', `the run took longer than ${this.#limitMs / 1000} s`);
      }, this.#limitMs);
      thread.once('message', (result: SeedResult) => {
        finish(result, false);
      });
      thread.once('error', (error: unknown) => {
        fail('thread', error instanceof Error ? (error.stack ?? error.message) : String(error));
      });
      thread.once('exit', (code) => {
        fail('thread', `the thread ended with code ${code}`);
      });
      thread.postMessage(seed);
    });
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
    this.#thread = null;
  }
}
