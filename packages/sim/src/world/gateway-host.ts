/**
 * Runs a gateway: one life of its process after another. A gateway keeps nothing from one to the next.
 *
 * The loops of a process share its clock and its write epochs, and nothing else. The first shares the process's node, if it has
 * one; others reach that one over links, like all nodes.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { GatewayCounters } from '@s3-accelerator/core/gateway/counters.ts';
import { WriteEpochs } from '@s3-accelerator/core/gateway/write-epochs.ts';
import { GatewayRun, type GatewayRunOptions } from './gateway-run.ts';

export type GatewayHostOptions = Omit<GatewayRunOptions, 'life' | 'loop' | 'epochs' | 'writers'> & {
  /** How many there are. */
  readonly loops: number;
  /** Slots that objects share when they are written; a power of two. */
  readonly writeSlots: number;
};

export class GatewayHost {
  readonly place: number;
  /** None while the process is down. */
  loops: readonly GatewayRun[] = [];
  /** Told of each loop's figures as it ends. */
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

  /** The first loop; null while the process is down. */
  get run(): GatewayRun | null {
    return this.loops[0] ?? null;
  }

  /** The loop that the nth connection comes to; null while the process is down. */
  loopOf(connection: number): GatewayRun | null {
    return this.loops[connection % this.#options.loops] ?? null;
  }

  startIfDown(): void {
    if (this.run === null) this.start();
  }

  start(): void {
    assert(this.run === null, 'a host runs one gateway at a time');
    this.#lives += 1;
    const { world, writeSlots, gatewayId } = this.#options;
    const life = this.#lives;
    const epochs = new WriteEpochs(new Uint32Array(writeSlots), world.seed + life);
    const shared = { ...this.#options, life, epochs, writers: new Map() };
    this.loops = Array.from({ length: this.#options.loops }, (_, loop) => {
      if (loop === 0) return new GatewayRun({ ...shared, loop });
      return new GatewayRun({
        ...shared,
        loop,
        beside: null,
        processId: ownProcessId(gatewayId, loop),
      });
    });
  }

  killIfUp(): void {
    const { loops } = this;
    this.loops = [];
    for (const run of loops) {
      run.end();
      this.onRunEnded(run.gateway.counters);
    }
  }
}

/** Ids that tell the network that no node is reached in memory; below those of ends that nobody listens at. */
function ownProcessId(gatewayId: number, loop: number): number {
  return -2 - (gatewayId * 16 + loop);
}
