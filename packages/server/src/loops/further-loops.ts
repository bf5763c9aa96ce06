/**
 * All loops of a gateway but the first, which is on the main thread and starts them.
 *
 * Each further loop is what a gateway in a process of its own would be, in a thread: it listens at the same address (the kernel spreads
 * connections over the listeners), and has its own reactor, clients' keys, metadata, links and ring. The process is ready when all
 * its loops are, ends when one of them dies, and stops when all have finished their answers.
 */
import type { Config } from '../config/config.ts';
import type { Log, LogLevel } from '../log.ts';
import type { AllSamples } from '../metrics/figures.ts';
import type { PeerAddress } from '../peers/peers.ts';
import { Heartbeats } from './heartbeats.ts';
import { LoopThread } from './loop-thread.ts';
import { packConfig } from './packed-config.ts';
import type { SharedMemory } from './shared-memory.ts';

/** Longer than a loop gives its answers to end. */
const stopMs = 25_000;

export interface FurtherLoopsOptions {
  /** How many there are besides the first. */
  readonly count: number;
  /** As for a gateway without a node: `gateway.listen` has a port, `cluster` a node to ask. */
  readonly config: Config;
  readonly near: PeerAddress | null;
  readonly memory: SharedMemory;
  readonly log: Log;
  /** Aborted when the process is asked to stop: those that don't run yet aren't waited for. */
  readonly signal: AbortSignal;
  /** One of them died: this process must not go on. */
  readonly mustStop: (why: string) => void;
  /** What the threads run. */
  readonly program?: URL;
}

export class FurtherLoops {
  readonly #threads: readonly LoopThread[];
  readonly #heartbeats: Heartbeats;

  private constructor(threads: readonly LoopThread[], heartbeats: Heartbeats) {
    this.#threads = threads;
    this.#heartbeats = heartbeats;
  }

  /** Resolves when all of them run; else none is left, and it rejects with what kept one from that, such as the signal. */
  static async start(options: FurtherLoopsOptions): Promise<FurtherLoops> {
    const { count, config, near, memory, log, signal, mustStop, program } = options;
    signal.throwIfAborted();
    const packed = packConfig(config);
    const logLevel = log.level as LogLevel;
    const threads = Array.from({ length: count }, (_, index) => {
      const loop = index + 1;
      return new LoopThread({
        start: { loop, config: packed, near, memory, logLevel },
        onDied: (error) => {
          log.error({ loop, err: error }, 'a gateway loop died');
          mustStop(`gateway loop ${loop} died: ${error.message}`);
        },
        ...(program === undefined ? {} : { program }),
      });
    });
    const loops = new FurtherLoops(threads, new Heartbeats(memory.heartbeats));
    const stop = (): void => void loops.stop();
    signal.addEventListener('abort', stop);
    const starts = await Promise.allSettled(threads.map((thread) => thread.started));
    signal.removeEventListener('abort', stop);
    const failed = starts.find((start) => start.status === 'rejected');
    if (failed === undefined) return loops;
    await loops.stop();
    throw failed.reason;
  }

  /** null when all of them can serve clients, else why one can't. */
  notReady(): string | null {
    for (const { loop, notReady } of this.#threads) {
      if (notReady !== null) return notReady;
      if (this.#standsStill(loop)) return `gateway loop ${loop} stands still`;
    }
    return null;
  }

  /** How many of them have begun to turn and don't any more. */
  standingStill(): number {
    return this.#threads.filter((one) => one.notReady === null && this.#standsStill(one.loop))
      .length;
  }

  /** Resolves when the configuration is in force in all of them. */
  async reload(config: Config): Promise<void> {
    const packed = packConfig(config);
    await Promise.all(this.#threads.map((thread) => thread.reload(packed)));
  }

  /** Never fails. */
  figures(): Promise<AllSamples[]> {
    return Promise.all(this.#threads.map((thread) => thread.figures()));
  }

  #standsStill(loop: number): boolean {
    return this.#heartbeats.standsStill(loop, performance.now());
  }

  /** Finishes the answers that are under way. */
  async stop(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.stop(stopMs)));
  }
}
