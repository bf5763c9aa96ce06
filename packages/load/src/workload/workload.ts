/** Draws a step's requests, one after the other: operation, object, part. The same plan draws the same ones. */
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { Operation, StepPlan } from '../plan/plan.ts';
import { operations } from '../plan/plan.ts';
import type { Exchange } from './exchange.ts';
import type { Part } from './order.ts';
import { orderOf } from './order.ts';

export class Workload {
  readonly #step: StepPlan;
  readonly #dataset: Dataset;
  readonly #nextObject: () => number;
  readonly #mix: Prng;
  readonly #ranges: Prng;
  readonly #totalShare: number;

  constructor(step: StepPlan, dataset: Dataset, part: Part, seed: number) {
    const prng = new Prng(seed, part.index).stream(step.name);
    this.#step = step;
    this.#dataset = dataset;
    this.#nextObject = orderOf(step, dataset.objects, part, prng.stream('objects'));
    this.#mix = prng.stream('operations');
    this.#ranges = prng.stream('ranges');
    this.#totalShare = operations.reduce((sum, name) => sum + step.operations[name], 0);
  }

  /** Fills in what is asked for. */
  draw(exchange: Exchange): void {
    const object = this.#nextObject();
    exchange.operation = this.#operation();
    exchange.object = object;
    exchange.key = this.#dataset.key(object);
    exchange.identity = this.#dataset.identity(object);
    exchange.size = this.#dataset.size(object);
    exchange.first = 0;
    exchange.bytes = exchange.size;
    if (exchange.operation === 'get' && this.#step.range !== null) this.#drawRange(exchange);
  }

  #operation(): Operation {
    let ticket = this.#mix.below(this.#totalShare);
    for (const name of operations) {
      ticket -= this.#step.operations[name];
      if (ticket < 0) return name;
    }
    return 'get';
  }

  #drawRange(exchange: Exchange): void {
    const range = this.#step.range!;
    if (range.bytes >= exchange.size) return;
    const lastStart = exchange.size - range.bytes;
    exchange.bytes = range.bytes;
    if (range.at === 'end') exchange.first = lastStart;
    else if (range.at === 'random') {
      exchange.first = this.#ranges.below(Math.floor(lastStart / range.align) + 1) * range.align;
    }
  }
}
