/**
 * A further loop, as the first one has it: starts its thread, asks it things, stops it, and notices when it ends by itself.
 *
 * The thread runs loop-worker.ts. What it is asked is answered in order, so an answer belongs to the question asked first.
 */
import { Worker } from 'node:worker_threads';
import type { AllSamples } from '../metrics/figures.ts';
import type { FromLoop, LoopStart, ToLoop } from './loop-messages.ts';
import type { PackedConfig } from './packed-config.ts';

const program = new URL('./loop-worker.ts', import.meta.url);

/** How long a loop may take to answer, before the last figures that it gave are taken for its present ones. */
const figuresMs = 1000;
/** How long one may take to end that doesn't run yet: nobody waits for its answers. */
const unstartedMs = 1000;

export interface LoopThreadOptions {
  readonly start: LoopStart;
  /** It ended though nobody asked it to; after that it answers nothing. */
  readonly onDied: (error: Error) => void;
  /** What the thread runs. */
  readonly program?: URL;
}

export class LoopThread {
  /** Which of the process's loops it is. */
  readonly loop: number;
  readonly #worker: Worker;
  readonly #onDied: (error: Error) => void;
  readonly #ended: Promise<void>;
  #started: PromiseWithResolvers<void> | null = Promise.withResolvers();
  readonly #reloads: (() => void)[] = [];
  readonly #figures: ((samples: AllSamples) => void)[] = [];
  #lastFigures: AllSamples = new Map();
  #notReady: string | null = 'starting';
  #isStopping = false;
  #hasEnded = false;

  constructor(options: LoopThreadOptions) {
    this.loop = options.start.loop;
    this.#onDied = options.onDied;
    this.#worker = new Worker(options.program ?? program, { workerData: options.start });
    this.#worker.on('message', (message: FromLoop) => {
      this.#hear(message);
    });
    this.#worker.on('error', (error: unknown) => {
      this.#die(error instanceof Error ? error : new Error(String(error)));
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#die(new Error(`its thread ended with code ${code}`));
        resolve();
      });
    });
  }

  /** Resolves when it runs; rejects with what kept it from that. */
  get started(): Promise<void> {
    return this.#started?.promise ?? Promise.resolve();
  }

  /** null when clients can be served, else why not. */
  get notReady(): string | null {
    return this.#notReady;
  }

  /** Resolves when the configuration is in force. */
  reload(config: PackedConfig): Promise<void> {
    if (this.#hasEnded) return Promise.resolve();
    return new Promise((resolve) => {
      this.#reloads.push(resolve);
      this.#send({ kind: 'reload', config });
    });
  }

  /** Never fails: a loop that is busy, or gone, counts with what it last said, so that no counter ever falls. */
  figures(): Promise<AllSamples> {
    if (this.#hasEnded) return Promise.resolve(this.#lastFigures);
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        resolve(this.#lastFigures);
      }, figuresMs);
      this.#figures.push((samples) => {
        clearTimeout(late);
        resolve(samples);
      });
      this.#send({ kind: 'figures' });
    });
  }

  /** Lets it finish its answers; ends it after `mostMs` whatever it does. */
  async stop(mostMs: number): Promise<void> {
    if (this.#hasEnded) return;
    this.#isStopping = true;
    this.#send({ kind: 'stop' });
    const waitMs = this.#started === null ? mostMs : Math.min(mostMs, unstartedMs);
    const late = setTimeout(() => void this.#worker.terminate(), waitMs);
    await this.#ended;
    clearTimeout(late);
  }

  #send(message: ToLoop): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromLoop): void {
    switch (message.kind) {
      case 'started':
        this.#started?.resolve();
        this.#started = null;
        break;
      case 'readiness':
        this.#notReady = message.notReady;
        break;
      case 'reloaded':
        this.#reloads.shift()?.();
        break;
      case 'figures':
        this.#lastFigures = message.samples;
        this.#figures.shift()?.(message.samples);
    }
  }

  /** The first that is heard of its end says why. */
  #die(error: Error): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#notReady = 'a loop ended';
    for (const resolve of this.#reloads.splice(0)) resolve();
    for (const resolve of this.#figures.splice(0)) resolve(this.#lastFigures);
    if (this.#started !== null) this.#started.reject(error);
    else if (!this.#isStopping) this.#onDied(error);
  }
}
