/** One worker as the command sees it: a child process that answers messages. */
import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { join } from 'node:path';
import type {
  FromWorker,
  SecondCounts,
  StepJob,
  ToWorker,
  WorkerShare,
} from '../worker/messages.ts';

const program = join(import.meta.dirname, '../worker/main.ts');

/** A worker ended without having told what it counted. */
export class WorkerLost extends Error {
  override readonly name = 'WorkerLost';
}

/** Hears what a worker tells while it runs. */
export interface WorkerListener {
  saw(second: SecondCounts): void;
  /** An answer was wrong. */
  sawWrong(): void;
}

export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #ready = Promise.withResolvers<{ opened: number; failure: string }>();
  readonly #done = Promise.withResolvers<WorkerShare>();

  constructor(job: StepJob, listener: WorkerListener) {
    this.#child = fork(program, { execPath: process.execPath, stdio: ['ignore', 2, 2, 'ipc'] });
    this.#child.on('message', (message: FromWorker) => {
      if (message.kind === 'ready') this.#ready.resolve(message);
      else if (message.kind === 'second') listener.saw(message.second);
      else if (message.kind === 'wrong') listener.sawWrong();
      else this.#done.resolve(message.share);
    });
    this.#child.on('exit', (code, signal) => {
      const lost = new WorkerLost(`a worker ended by ${signal ?? `exit code ${String(code)}`}`);
      this.#ready.reject(lost);
      this.#done.reject(lost);
    });
    // Whoever waits hears of a loss; that nobody waits at the moment is no fault.
    this.#ready.promise.catch(() => undefined);
    this.#done.promise.catch(() => undefined);
    this.#tell({ kind: 'prepare', job });
  }

  /** Its connections were opened, or failed. Throws WorkerLost. */
  get ready(): Promise<{ opened: number; failure: string }> {
    return this.#ready.promise;
  }

  /** What it did, after `go`. Throws WorkerLost. */
  get done(): Promise<WorkerShare> {
    return this.#done.promise;
  }

  /** `startAt` in milliseconds since 1970. */
  go(startAt: number): void {
    this.#tell({ kind: 'go', startAt });
  }

  stop(): void {
    this.#tell({ kind: 'stop' });
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #tell(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message);
  }
}
