/**
 * Bounds: metadata, marks, pools and buffers of a process stay within their limits, at every moment that is looked at.
 */
import type { ProcessState } from '../history/views.ts';

/** Called now and then during a run. */
export function checkBounds(state: ProcessState): string | null {
  for (const { name, value, limit } of state.levels) {
    if (value > limit) return `${state.name} has ${value} ${name}, more than ${limit}`;
    // Not `value < 0`: a sum that came to be no number is neither above nor below anything.
    if (!(value >= 0)) return `${state.name} has ${value} ${name}`;
  }
  return null;
}
