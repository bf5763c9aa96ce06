/** Output that nobody reads to its end, as behind `| head`: the program then ends quietly. */

/** What shells say of a program that wrote where nobody read. */
const BROKEN_PIPE = 141;

/** From now on the program ends when its output's reader has gone. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(BROKEN_PIPE);
  });
}
