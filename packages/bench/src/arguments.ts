/** What the commands of this package do with arguments: say what is wrong with them, or print their usage. */
import { endWithUsage } from 's3-accelerator/config/argument-error.ts';

/** Arguments that mean nothing. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

/** Ends the process with the usage where it is asked for (`read` gives null), or is needed (it throws ArgumentError). */
export function optionsOrExit<T>(read: (args: readonly string[]) => T | null, usage: string): T {
  try {
    const options = read(process.argv.slice(2));
    if (options !== null) return options;
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    endWithUsage(error, usage);
  }
  process.stdout.write(usage);
  process.exit(0);
}
