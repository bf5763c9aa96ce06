/** The arguments of `npm run mutants`. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { argumentError } from 's3-accelerator/config/argument-error.ts';
import type { PlantedBug } from './planted-bug.ts';

export const usage = `Usage: npm run mutants [-- OPTIONS]
Plants each bug of the catalog into a copy of the tree and runs the tests, layer by layer, until one notices it.

  --only NAME[,NAME]  these bugs alone
  --jobs N            bugs at a time (default: one for each processor)
  --check             only say whether all of them still apply
  --table             print the catalog by what is broken, as Markdown
  --help, -h          print this

Exit code 0 when every bug was noticed, 1 when one wasn't or doesn't apply, 2 for arguments that mean nothing.`;

export interface Options {
  readonly what: 'run' | 'check' | 'table';
  readonly bugs: readonly PlantedBug[];
  /** All of the catalog was asked for. */
  readonly isAll: boolean;
  readonly jobs: number;
}

/** The options, or what is wrong with the arguments. */
export function optionsOf(
  args: readonly string[],
  catalog: readonly PlantedBug[],
): Options | string {
  let values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        only: { type: 'string' },
        jobs: { type: 'string' },
        check: { type: 'boolean', default: false },
        table: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    return argumentError(error);
  }
  const { only, check, table } = values;
  if (check && table) return '--check and --table exclude each other.';
  const jobs = values.jobs ?? String(availableParallelism());
  if (!/^[1-9]\d{0,2}$/.test(jobs)) return `--jobs ${jobs}: it takes a number from 1 to 999.`;
  const names = only?.split(',') ?? null;
  for (const name of names ?? []) {
    if (!catalog.some((bug) => bug.name === name)) return `No planted bug is called '${name}'.`;
  }
  return {
    what: check ? 'check' : table ? 'table' : 'run',
    bugs: names === null ? catalog : catalog.filter(({ name }) => names.includes(name)),
    isAll: names === null,
    jobs: Number(jobs),
  };
}
