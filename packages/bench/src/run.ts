/** What a group of figures is given. */
import type { Progress } from './progress.ts';
import type { Scale } from './scale.ts';

export interface Run {
  /** A folder of its own, removed after. */
  readonly directory: string;
  readonly scale: Scale;
  readonly progress: Pick<Progress, 'say'>;
  /** Whether a figure is asked for, by the number without its letter: P1. */
  readonly isWanted: (id: string) => boolean;
}
