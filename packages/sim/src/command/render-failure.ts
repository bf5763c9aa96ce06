/** A failed run in words: what broke, when, what happened last, and how to see it again. */
import type { RunOutcome } from '../simulation.ts';

/** Empty when nothing failed. `optionsText` is what the run had otherwise than its seed, null for nothing. */
export function renderFailure(
  seed: number,
  outcome: RunOutcome,
  optionsText: string | null = null,
): string {
  const { failure } = outcome;
  if (failure === null) return '';
  const events = failure.lastEvents.map((event) => `  ${event}`);
  return [
    `seed ${seed} failed at ${failure.at.toFixed(3)} ms: ${failure.checker}: ${failure.what}`,
    ...(events.length === 0 ? [] : ['last events:', ...events]),
    `replay with: npm run sim -- ${seed}${optionsText === null ? '' : ` --options '${optionsText}'`}`,
  ].join('\n');
}
