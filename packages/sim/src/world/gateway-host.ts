/** Runs a gateway: one life of its process after another. A gateway keeps nothing from one to the next. */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { GatewayCounters } from '@s3-accelerator/core/gateway/counters.ts';
import { WriteEpochs } from '@s3-accelerator/core/gateway/write-epochs.ts';
import { GatewayRun, type GatewayRunOptions } from './gateway-run.ts';

export type GatewayHostOptions = Omit<GatewayRunOptions, 'life' | 'epochs'> & {
  /** Slots that objects share when they are written; a power of two. */
  readonly writeSlots: number;
};

export class GatewayHost {
  readonly place: number;
  /** Null while the process is down. */
  run: GatewayRun | null = null;
  /** Told of each life's figures as it ends. */
  onRunEnded: (counters: Readonly<GatewayCounters>) => void = () => undefined;
  readonly #options: GatewayHostOptions;
  #lives = 0;

  constructor(options: GatewayHostOptions) {
    this.#options = options;
    this.place = options.place;
  }

  get gatewayId(): number {
    return this.#options.gatewayId;
  }

  startIfDown(): void {
    if (this.run === null) this.start();
  }

  start(): void {
    assert(this.run === null, 'a host runs one gateway at a time');
    this.#lives += 1;
    const { world, writeSlots } = this.#options;
    const life = this.#lives;
    const epochs = new WriteEpochs(new Uint32Array(writeSlots), world.seed + life);
    this.run = new GatewayRun({ ...this.#options, life, epochs });
  }

  killIfUp(): void {
    const { run } = this;
    if (run === null) return;
    this.run = null;
    run.end();
    this.onRunEnded(run.gateway.counters);
  }
}
