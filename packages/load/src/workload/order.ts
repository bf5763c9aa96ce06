/** Which object is asked for next. */
import type { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { StepPlan } from '../plan/plan.ts';
import { Zipf } from './zipf.ts';

/** Which of a step's processes this is. */
export interface Part {
  readonly index: number;
  readonly of: number;
}

/** A process's share of a number that all processes together make up. */
export function shareOf(total: number, { index, of }: Part): number {
  return Math.floor(total / of) + (index < total % of ? 1 : 0);
}

/** Gives object numbers below `objects`, without end. In a sequence each process takes every `of`-th. */
export function orderOf(step: StepPlan, objects: number, part: Part, prng: Prng): () => number {
  switch (step.order) {
    case 'sequential': {
      let next = part.index;
      return () => {
        const object = next % objects;
        next += part.of;
        return object;
      };
    }
    case 'uniform':
      return () => prng.below(objects);
    case 'zipf': {
      const zipf = new Zipf(objects, step.zipfExponent);
      return () => zipf.draw(prng);
    }
  }
}
