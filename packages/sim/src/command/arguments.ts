/** The arguments of `npm run sim`. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { argumentError } from 's3-accelerator/config/argument-error.ts';

export const usage = `Usage: npm run sim -- [SEED] [--quiet] [--options JSON] [--shrink]
       npm run sim -- [SEED] --seeds COUNT [--workers COUNT]

  SEED             a whole number; without one a random seed is taken and printed
  --quiet          no trace of what happens, only what came of it
  --options JSON   other options than the seed's, such as '{"workload":{"requests":20}}'; "never" for Infinity
  --shrink         look for a smaller run of a failing seed, and print its options
  --seeds COUNT    run that many seeds, from SEED on, without traces
  --workers COUNT  threads for that (default: one a core)

Ctrl-C ends many seeds early, with a summary of those that ran.
Exit code 0 when nothing failed, 1 when something did, 2 for arguments that mean nothing.
`;

/** An argument that can't be used; the message says why. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

/** What is wanted. `seed` is null for a random one. */
export type Wanted =
  | { readonly kind: 'help' }
  | {
      readonly kind: 'one';
      readonly seed: number | null;
      readonly isQuiet: boolean;
      readonly optionsText: string | null;
      readonly shrinks: boolean;
    }
  | {
      readonly kind: 'many';
      readonly seed: number | null;
      readonly count: number;
      readonly workers: number;
    };

const MAX_WORKERS = 256;
const MAX_SEEDS = 1e9;

/** Throws an ArgumentError for what can't be used. */
export function wantedFrom(args: readonly string[]): Wanted {
  const { values, positionals } = parse(args);
  if (values.help) return { kind: 'help' };
  if (positionals.length > 1) {
    throw new ArgumentError(`one seed at most, found ${positionals.join(' ')}`);
  }
  const [text] = positionals;
  const seed = text === undefined ? null : wholeNumber('seed', text, 0, Number.MAX_SAFE_INTEGER);
  const { seeds, workers, quiet, options, shrink } = values;
  if (seeds === undefined) {
    if (workers !== undefined) throw new ArgumentError('--workers goes with --seeds');
    return {
      kind: 'one',
      seed,
      isQuiet: quiet,
      optionsText: options ?? null,
      shrinks: shrink,
    };
  }
  if (quiet || shrink || options !== undefined) {
    throw new ArgumentError('--quiet, --shrink and --options are about one seed: not with --seeds');
  }
  const count = wholeNumber('--seeds', seeds, 1, MAX_SEEDS);
  if (count - 1 > Number.MAX_SAFE_INTEGER - (seed ?? 0)) {
    throw new ArgumentError(`there are no ${count} seeds from ${seed ?? 0} on`);
  }
  return {
    kind: 'many',
    seed,
    count,
    workers:
      workers === undefined
        ? availableParallelism()
        : wholeNumber('--workers', workers, 1, MAX_WORKERS),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        seeds: { type: 'string' },
        workers: { type: 'string' },
        quiet: { type: 'boolean', default: false },
        options: { type: 'string' },
        shrink: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new ArgumentError(argumentError(error));
  }
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (number >= least && number <= most) return number;
  throw new ArgumentError(`${name} '${text}' is no whole number from ${least} to ${most}`);
}
