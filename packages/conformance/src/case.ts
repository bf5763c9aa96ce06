// A case: one sentence about S3, and what shows that it holds.
import type { Target } from './target.ts';

export interface Case {
  readonly name: string;
  run(target: Target): Promise<void>;
}
