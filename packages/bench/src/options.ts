/** The arguments of `npm run bench`. */
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { argumentError } from 's3-accelerator/config/argument-error.ts';
import { ArgumentError } from './arguments.ts';
import { groups, knownIds } from './catalog.ts';

export const usage = `Usage: npm run bench -- [--only P1,P2] [--quick] [--json] [--write] [--dir DIRECTORY]

  --only IDS    measure these alone
  --quick       a sample, in less than a minute where all takes half an hour: P9, P11, P13 and
                PEERS only if they are named
  --json        print one object last: {"figures": […], "comparisons": […], "skipped": […]}
  --write       put what was measured into docs/benchmarks.json, BENCHMARKS.md and docs/plots
  --dir DIR     where the caches lie while it runs (default: the system's temporary folder)

${groups.map(({ ids, about }) => `  ${ids.join(', ').padEnd(15)} ${about}`).join('\n')}

Exit code 0 when all was measured, whatever the figures are; 1 when something failed; 2 for arguments that mean nothing.
`;

export interface Options {
  /** null: all. */
  readonly only: readonly string[] | null;
  readonly isQuick: boolean;
  readonly isJson: boolean;
  readonly isWritten: boolean;
  readonly directory: string;
}

/** null when help is wanted. Throws ArgumentError. */
export function optionsFrom(args: readonly string[]): Options | null {
  const values = parsed(args);
  if (values.help) return null;
  const only = values.only?.split(',').map((id) => id.trim().toUpperCase()) ?? null;
  const unknown = only?.filter((id) => !knownIds.includes(id)) ?? [];
  if (unknown.length > 0) throw new ArgumentError(`no figure is called ${unknown.join(', ')}`);
  return {
    only,
    isQuick: values.quick,
    isJson: values.json,
    isWritten: values.write,
    directory: values.dir,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: 'string' },
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
        dir: { type: 'string', default: tmpdir() },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new ArgumentError(argumentError(error));
  }
}
