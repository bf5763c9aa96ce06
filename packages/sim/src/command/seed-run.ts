/** Runs one seed to its outcome, whatever happens: an exception of the simulator itself is a failure like any other. */
import type { RunOptions } from '../options.ts';
import { simulate, type Failure, type RunOutcome } from '../simulation.ts';

/** What one of many seeds came to. */
export interface SeedResult {
  readonly seed: number;
  readonly outcome: RunOutcome;
}

/** Runs; `print` is given each line of the readable trace. */
export function runToOutcome(
  options: RunOptions,
  print: ((line: string) => void) | null = null,
): RunOutcome {
  try {
    return simulate(options, print);
  } catch (error) {
    return failedOutcome(
      'exception',
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    );
  }
}

/** The outcome of a run that gave none. */
export function failedOutcome(checker: string, what: string): RunOutcome {
  const failure: Failure = { checker, what, at: 0, lastEvents: [] };
  return { failure, traceHash: '', requests: 0, situations: new Map(), simulatedMs: 0 };
}
