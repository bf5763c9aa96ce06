/**
 * Leaks (SPEC §4.9): when nothing is under way any more, no pin, slot, reader, fetch, buffer or lease is held.
 */
import type { ProcessState } from '../history/views.ts';

/** Called when everything has come to rest. */
export function checkLeaks(state: ProcessState): string | null {
  for (const { name, value, restsAtZero } of state.levels) {
    if (restsAtZero && value !== 0) return `${state.name} still has ${value} ${name}`;
  }
  return null;
}
