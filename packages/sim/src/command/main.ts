/**
 * `npm run sim`: runs the simulator on one seed, to read along or to make it smaller, or on many, on every core.
 */
import { randomInt } from 'node:crypto';
import { optionsOf, type RunOptions } from '../options.ts';
import type { RunOutcome } from '../simulation.ts';
import { ArgumentError, usage, wantedFrom, type Wanted } from './arguments.ts';
import { runSeeds } from './many-seeds.ts';
import { Progress } from './progress.ts';
import { renderFailure } from './render-failure.ts';
import { differenceOf, withDifference } from './run-options.ts';
import { runToOutcome, type SeedResult } from './seed-run.ts';
import { shrink } from './shrink.ts';
import { Summary } from './summary.ts';
import { endWithReader } from './unread-output.ts';

/** Random seeds are short enough to be typed. */
const RANDOM_SEEDS = 2 ** 32;
const MAX_SHRINK_TRIES = 600;
/** What shells say of a program that ended by Ctrl-C. */
const INTERRUPTED = 130;

/** Written through at once, to a pipe too: a long trace doesn't pile up. */
function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function seedOf(given: number | null): number {
  if (given !== null) return given;
  const seed = randomInt(RANDOM_SEEDS);
  say(`seed ${seed}`);
  return seed;
}

function runOne(wanted: Wanted & { kind: 'one' }): number {
  const isRandom = wanted.seed === null;
  const seed = seedOf(wanted.seed);
  const drawn = optionsOf(seed);
  const { optionsText } = wanted;
  const options = optionsText === null ? drawn : withDifference(drawn, optionsText);
  if (wanted.shrinks) return shrinkOne(drawn, options);
  const outcome = runToOutcome(options, wanted.isQuiet || isRandom ? null : say);
  sayOutcome(seed, outcome, optionsText);
  return outcome.failure === null ? 0 : 1;
}

function sayOutcome(seed: number, outcome: RunOutcome, optionsText: string | null): void {
  const arisen = [...outcome.situations].filter(([, times]) => times > 0);
  if (arisen.length > 0) {
    say(`situations: ${arisen.map(([situation, times]) => `${situation} ${times}`).join(', ')}`);
  }
  const { requests, simulatedMs, traceHash } = outcome;
  say(
    `${requests} requests in ${(simulatedMs / 1000).toFixed(3)} simulated seconds, trace ${traceHash}`,
  );
  say(outcome.failure === null ? `seed ${seed} passed` : renderFailure(seed, outcome, optionsText));
}

/** Prints the options of a smaller run with the same kind of failure, and what that run says. */
function shrinkOne(drawn: RunOptions, options: RunOptions): number {
  const { seed } = drawn;
  const before = runToOutcome(options).failure;
  if (before === null) {
    say(`seed ${seed} passed: there is nothing to make smaller`);
    return 0;
  }
  say(`seed ${seed} fails: ${before.checker}`);
  const isSameFailure = (smaller: RunOptions): boolean =>
    runToOutcome(smaller).failure?.checker === before.checker;
  const shrunk = shrink(options, isSameFailure, MAX_SHRINK_TRIES, (smaller, tries) => {
    process.stderr.write(`after ${tries} tries: ${smaller.workload.requests} requests\n`);
  });
  say(`after ${shrunk.tries} tries:`);
  sayOutcome(seed, runToOutcome(shrunk.options), differenceOf(drawn, shrunk.options));
  return 1;
}

async function runMany({ seed, count, workers }: Wanted & { kind: 'many' }): Promise<number> {
  const range = { first: seedOf(seed), count };
  const summary = new Summary(range);
  const progress = new Progress(process.stderr, count);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // More than once: npm and the terminal both pass a Ctrl-C on.
    process.on(signal, () => {
      stop.abort();
    });
  }
  const onResult = (result: SeedResult): void => {
    summary.add(result);
    progress.tell(summary);
  };
  await runSeeds(range, workers, onResult, stop.signal);
  progress.end();
  process.stdout.write(summary.render());
  if (!summary.isGood) return 1;
  return stop.signal.aborted ? INTERRUPTED : 0;
}

async function main(): Promise<number> {
  const wanted = wantedFrom(process.argv.slice(2));
  switch (wanted.kind) {
    case 'help':
      process.stdout.write(usage);
      return 0;
    case 'one':
      return runOne(wanted);
    case 'many':
      return runMany(wanted);
  }
}

endWithReader();
try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof ArgumentError)) throw error;
  process.stderr.write(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
