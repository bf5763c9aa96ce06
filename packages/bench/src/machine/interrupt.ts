/** A Ctrl-C leaves no process and no gigabytes behind. */
import { rmSync } from 'node:fs';
import { endAll } from './child.ts';

/** From now on a signal to end ends all children, removes the folder, and ends this process with the signal's code. */
export function cleanUpOnInterrupt(directory: string): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => {
      endAll();
      rmSync(directory, { recursive: true, force: true });
      process.exit(code);
    });
  }
}
