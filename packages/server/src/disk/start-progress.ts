/**
 * A start that has a long file to read: it says every two seconds how far it is, for nobody is served meanwhile and silence looks like a
 * hang, and it ends between two pieces when the process is asked to stop.
 */
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

export class StartProgress {
  readonly #say: (percent: number) => void;
  readonly #signal: AbortSignal;
  readonly #everyMs: number;
  #nextAt: number;

  constructor(say: (percent: number) => void, signal: AbortSignal, everyMs = 2000) {
    this.#say = say;
    this.#signal = signal;
    this.#everyMs = everyMs;
    this.#nextAt = performance.now() + everyMs;
  }

  /** Await it after each piece: `done` of `all` bytes. Rejects once the signal is aborted: signals come in during that turn of the loop. */
  async tell(done: number, all: number): Promise<void> {
    await turnOfTheLoop();
    this.#signal.throwIfAborted();
    if (performance.now() < this.#nextAt) return;
    this.#nextAt += this.#everyMs;
    this.#say(Math.floor((100 * done) / all));
  }
}
