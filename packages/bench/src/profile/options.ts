/** The arguments of `npm run profile`. */
import { parseArgs } from 'node:util';
import { argumentError } from 's3-accelerator/config/argument-error.ts';
import { ArgumentError } from '../arguments.ts';

export const usage = `Usage: npm run profile -- PLAN.toml [options]

Loads an accelerator of its own after a plan of the load generator, on this machine, and shows where its processes spend their
time: a flame graph for each, the functions that most of it goes to, and the system calls a request.

  --processes N   1: gateway and node in one process; 2: each in its own (default: 2)
  --seconds N     how long the profile takes; the plan is run once before, then its last step again and
                  again (default: 10)
  --out DIR       where gateway.svg and node.svg go (default: data/profile)

It uses perf where it is installed (scripts/peers install), else V8's profiler, which doesn't see the kernel's part.
Exit code 0 when all went well, 1 when something failed, 2 for arguments that mean nothing.
`;

export interface ProfileOptions {
  readonly plan: string;
  readonly processes: 1 | 2;
  readonly seconds: number;
  readonly out: string;
}

/** null when help is wanted. Throws ArgumentError. */
export function optionsFrom(args: readonly string[]): ProfileOptions | null {
  const { values, positionals } = parsed(args);
  if (values.help) return null;
  const [plan, ...more] = positionals;
  if (plan === undefined || more.length > 0) throw new ArgumentError('one plan is needed');
  if (values.processes !== '1' && values.processes !== '2') {
    throw new ArgumentError(`--processes ${values.processes}: 1 or 2 is needed`);
  }
  const seconds = Number(values.seconds);
  if (!(seconds >= 1 && seconds <= 600)) {
    throw new ArgumentError(`--seconds ${values.seconds}: a number from 1 to 600 is needed`);
  }
  return { plan, processes: values.processes === '1' ? 1 : 2, seconds, out: values.out };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        processes: { type: 'string', default: '2' },
        seconds: { type: 'string', default: '10' },
        out: { type: 'string', default: 'data/profile' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new ArgumentError(argumentError(error));
  }
}
