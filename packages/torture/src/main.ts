// `npm run torture`: kills the program at random moments, damages its files, and compares every byte with the origin.
import { randomInt } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endWithUsage } from 's3-accelerator/config/argument-error.ts';
import type { Tally } from './load/tally.ts';
import { torture, type Round, type TortureOptions } from './torture.ts';

const usage = `Usage: npm run torture -- [options]

  --rounds N   lives of the program, each ended and damaged in its own way (25)
  --seed N     plays the same plans and the same damage again, as far as a real process allows (drawn)
  --keep       stop after the first round that finds something wrong, and leave its files
  --dir DIR    where the files lie meanwhile (the system's temporary folder)
  --quiet      no line for each round

Exit code 0 when every byte was right, 1 when something was wrong or it was interrupted, 2 for arguments that mean nothing.
`;

function wholeNumber(name: string, text: string, first: number, last: number): number {
  const number = Number(text);
  if (/^\d{1,10}$/.test(text) && number >= first && number <= last) return number;
  throw new Error(`--${name} ${text}: a whole number from ${first} to ${last} is needed`);
}

interface CommandLine extends TortureOptions {
  readonly isQuiet: boolean;
}

function freshDirectoryIn(directory: string): string {
  try {
    return mkdtempSync(join(directory, 's3-accelerator-torture-'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`--dir ${directory}: no files can be made there (${code})`, { cause: error });
  }
}

function commandLine(): CommandLine {
  try {
    const { values } = parseArgs({
      options: {
        rounds: { type: 'string', default: '25' },
        seed: { type: 'string' },
        keep: { type: 'boolean', default: false },
        dir: { type: 'string' },
        quiet: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    return {
      rounds: wholeNumber('rounds', values.rounds, 1, 1_000_000),
      seed:
        values.seed === undefined
          ? randomInt(2 ** 32)
          : wholeNumber('seed', values.seed, 0, 2 ** 32 - 1),
      keep: values.keep,
      isQuiet: values.quiet,
      directory: freshDirectoryIn(values.dir ?? tmpdir()),
    };
  } catch (error) {
    return endWithUsage(error, usage);
  }
}

const options = commandLine();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.stdout.write(`seed ${options.seed}\n`);
let told = 0;

function progress({ number, life, after }: Round, tally: Tally): void {
  if (!options.isQuiet) {
    const place = `${number}/${options.rounds}`.padStart(9);
    process.stdout.write(`${place}  ${life.padEnd(36)} ${tally.reads} reads checked; ${after}\n`);
  }
  for (; told < tally.wrong.length; told++) {
    process.stdout.write(`  WRONG ${tally.wrong[told] ?? ''}\n`);
  }
}

const { tally, rounds, kept } = await torture(options, progress);
if (kept !== null) process.stdout.write(`the files of the failure are in ${kept}\n`);
const mebibytes = Math.round(tally.bytes / 2 ** 20);
process.stdout.write(
  `${tally.lives} lives, ${mebibytes} MiB compared, ${tally.overwrites} overwrites behind the cache, ` +
    `${tally.puts} through the gateway, ${tally.excused} requests without a whole answer\n` +
    `${tally.recovered} blocks recovered (${tally.trusted} trusted), ${tally.verified} verified, ` +
    `${tally.dropped} dropped; ` +
    `${tally.rolledBack} writes rolled back, ${tally.damages} times damaged\n` +
    `${rounds} rounds, ${tally.reads} reads checked, ${tally.wrong.length} wrong\n`,
);
process.exitCode = tally.wrong.length === 0 ? 0 : 1;
