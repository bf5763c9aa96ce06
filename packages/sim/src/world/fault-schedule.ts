/** When faults happen and how long they last: each kind at random moments of its own, until all of them are told to stop. */
import type { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { History } from '../history/history.ts';
import type { FaultRecord } from '../history/fault.ts';
import { streamOf } from '../options.ts';
import type { Situation, Situations } from '../situations.ts';
import type { EventQueue } from './event-queue.ts';

export interface FaultyWorld {
  readonly seed: number;
  readonly queue: EventQueue;
  readonly history: History;
  readonly situations: Situations;
}

export class FaultSchedule {
  readonly #world: FaultyWorld;
  readonly #lastingMs: number;
  /** What is broken, with what mends it. */
  readonly #lasting = new Map<FaultRecord, () => void>();
  #hasStopped = false;

  /** `lastingMs`: how long a fault lasts, up to twice this. */
  constructor(world: FaultyWorld, lastingMs: number) {
    this.#world = world;
    this.#lastingMs = lastingMs;
  }

  get hasStopped(): boolean {
    return this.#hasStopped;
  }

  /** A kind of fault happens again and again, each time after up to twice `meanMs`; Infinity for never. */
  repeat(kind: string, meanMs: number, act: (prng: Prng) => void): void {
    if (meanMs === Infinity) return;
    const prng = streamOf(this.#world.seed, `faults/${kind}`);
    const next = (): void => {
      this.#world.queue.in(meanMs * 2 * prng.fraction(), () => {
        if (this.#hasStopped) return;
        act(prng);
        next();
      });
    };
    next();
  }

  drawLastingMs(prng: Prng): number {
    return this.#lastingMs * 2 * prng.fraction();
  }

  note(situation: Situation, what: string, gateway = -1): FaultRecord {
    const { now } = this.#world.queue;
    this.#world.situations.arose(situation);
    return this.#world.history.faultBegan({
      what: `${situation}: ${what}`,
      from: now,
      until: now,
      gateway,
      object: '',
    });
  }

  /** It lasts for a while, or until all faults stop. */
  last(record: FaultRecord, ms: number, mend: () => void): void {
    record.until = Infinity;
    this.#lasting.set(record, mend);
    this.#world.queue.in(ms, () => {
      this.#mend(record);
    });
  }

  /** No more faults, and everything works again. */
  stop(): void {
    this.#hasStopped = true;
    for (const record of [...this.#lasting.keys()]) this.#mend(record);
  }

  #mend(record: FaultRecord): void {
    const mend = this.#lasting.get(record);
    if (mend === undefined) return;
    this.#lasting.delete(record);
    record.until = this.#world.queue.now;
    mend();
  }
}
