/** The machine that the generator runs on. */
import { availableParallelism, cpus, release } from 'node:os';
import type { Machine } from '../result/result.ts';

export function thisMachine(): Machine {
  return {
    kernel: release(),
    processors: availableParallelism(),
    model: cpus()[0]?.model.trim() ?? 'unknown processor',
    node: process.versions.node,
  };
}
