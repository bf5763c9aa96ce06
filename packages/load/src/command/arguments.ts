/** The arguments of `s3-accelerator-load`. */
import { parseArgs } from 'node:util';
import { argumentError } from 's3-accelerator/config/argument-error.ts';

export const usage = `Usage: s3-accelerator-load COMMAND …

  seed PLAN.toml       uploads the datasets of a plan
  run PLAN.toml        runs the steps of a plan and reports what came of them
  report RESULT.json   writes a result as Markdown
  chart RESULT.json    draws a result as SVG

Each has --help. docs/load-generator.md has the keys of a plan.
Exit code 0 when all went well; 1 when a request failed, an answer was wrong or the run couldn't go on;
2 for arguments or a plan that mean nothing; 130 after a Ctrl-C.
`;

const usages = {
  seed: `Usage: s3-accelerator-load seed PLAN.toml [options]

Uploads every object of the plan's datasets, and creates their buckets where they are missing. Objects that are there
already are written again, with the same bytes.

  --dataset NAME     only this dataset
  --endpoint URL     instead of the plan's endpoint.url
  --connections N    connections at a time (default: 32)
  --quiet            no progress
`,
  run: `Usage: s3-accelerator-load run PLAN.toml [options]

Checks that the datasets are there, runs the steps one after the other, prints a report, and writes the result to a
file. The file grows by each step; a run that ends early leaves what there is, marked partial.

  --out FILE.json    the result's file (default: the plan's name with .result.json, in this directory)
  --step NAME        only this step
  --endpoint URL     instead of the plan's endpoint.url
  --quiet            no progress and no report
`,
  report: `Usage: s3-accelerator-load report RESULT.json [--out FILE.md]

Writes a result as Markdown, to standard output unless --out names a file.
`,
  chart: `Usage: s3-accelerator-load chart RESULT.json [--out FILE.svg]

Draws a result as SVG: for each step the rate and the latencies by second, and the latencies by percentile. To standard
output unless --out names a file.
`,
} as const;

type Command = keyof typeof usages;

/** Arguments that can't be used; `usage` is what to print below the message. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
  readonly usage: string;

  constructor(message: string, shown: string) {
    super(message);
    this.usage = shown;
  }
}

export type Wanted =
  | { readonly command: 'help'; readonly text: string }
  | {
      readonly command: 'seed';
      readonly plan: string;
      readonly dataset: string | undefined;
      readonly endpoint: string | undefined;
      readonly connections: number;
      readonly isQuiet: boolean;
    }
  | {
      readonly command: 'run';
      readonly plan: string;
      readonly out: string | undefined;
      readonly step: string | undefined;
      readonly endpoint: string | undefined;
      readonly isQuiet: boolean;
    }
  | {
      readonly command: 'report' | 'chart';
      readonly result: string;
      readonly out: string | undefined;
    };

/** Throws ArgumentError. */
export function wantedFrom(args: readonly string[]): Wanted {
  const [command, ...rest] = args;
  if (command === '--help' || command === '-h') return { command: 'help', text: usage };
  if (command === undefined || !isCommand(command)) {
    const what = command === undefined ? 'a command is missing' : `there is no command ${command}`;
    throw new ArgumentError(what, usage);
  }
  const shown = usages[command];
  const { values, positionals } = parse(rest, command);
  if (values['help'] === true) return { command: 'help', text: shown };
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) {
    throw new ArgumentError(`${command} takes one file, not ${positionals.length}`, shown);
  }
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const isQuiet = values['quiet'] === true;
  const endpoint = text('endpoint');
  switch (command) {
    case 'seed':
      return {
        command,
        plan: file,
        dataset: text('dataset'),
        endpoint,
        connections: wholeNumber(text('connections') ?? '32', shown),
        isQuiet,
      };
    case 'run':
      return { command, plan: file, out: text('out'), step: text('step'), endpoint, isQuiet };
    case 'report':
    case 'chart':
      return { command, result: file, out: text('out') };
  }
}

function isCommand(name: string): name is Command {
  return Object.hasOwn(usages, name);
}

const optionsOf: Readonly<
  Record<Command, Readonly<Record<string, { type: 'string' | 'boolean' }>>>
> = {
  seed: {
    dataset: { type: 'string' },
    endpoint: { type: 'string' },
    connections: { type: 'string' },
    quiet: { type: 'boolean' },
  },
  run: {
    out: { type: 'string' },
    step: { type: 'string' },
    endpoint: { type: 'string' },
    quiet: { type: 'boolean' },
  },
  report: { out: { type: 'string' } },
  chart: { out: { type: 'string' } },
};

function parse(
  args: readonly string[],
  command: Command,
): {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
} {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...optionsOf[command], help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    throw new ArgumentError(argumentError(error), usages[command]);
  }
}

const maxConnections = 100_000;

function wholeNumber(text: string, shown: string): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= maxConnections) return number;
  throw new ArgumentError(
    `--connections ${text}: a whole number from 1 to ${maxConnections} is needed`,
    shown,
  );
}
