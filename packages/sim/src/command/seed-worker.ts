/**
 * A thread that runs seeds, one at a time.
 *
 * A seed that never ends, or brings its thread down, is a failed seed: the thread is replaced and the rest goes on.
 */
import { Worker } from 'node:worker_threads';
import type { RunOutcome } from '../simulation.ts';
import { failedOutcome, type SeedResult } from './seed-run.ts';

export class SeedWorker {
  readonly #program: URL;
  readonly #limitMs: number;
  #thread: Worker | null = null;
  /** What the run under way comes to, null while there is none. */
  #conclude: ((outcome: RunOutcome) => void) | null = null;

  /** `program` is the thread's; a seed that takes longer than `limitMs` has failed. */
  constructor(program: URL, limitMs: number) {
    this.#program = program;
    this.#limitMs = limitMs;
  }

  /** Runs a seed, one after the other. Never rejects. */
  run(seed: number): Promise<SeedResult> {
    this.#thread ??= this.#newThread();
    const thread = this.#thread;
    return new Promise((resolve) => {
      const limit = setTimeout(() => {
        this.#break('time', `the run took longer than ${this.#limitMs / 1000} s`);
      }, this.#limitMs);
      this.#conclude = (outcome) => {
        clearTimeout(limit);
        this.#conclude = null;
        resolve({ seed, outcome });
      };
      thread.postMessage(seed);
    });
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    await thread?.terminate();
  }

  #newThread(): Worker {
    const thread = new Worker(this.#program);
    thread.on('message', (outcome: RunOutcome) => {
      this.#conclude?.(outcome);
    });
    thread.on('error', (error: unknown) => {
      this.#break(
        'thread',
        error instanceof Error ? (error.stack ?? error.message) : String(error),
      );
    });
    thread.on('exit', (code) => {
      if (this.#thread === thread) this.#break('thread', `the thread ended with code ${code}`);
    });
    return thread;
  }

  /** The thread is of no more use. */
  #break(checker: string, what: string): void {
    void this.close();
    this.#conclude?.(failedOutcome(checker, what));
  }
}
