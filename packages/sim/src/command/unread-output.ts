/** Output that nobody reads to its end, as behind `| head`: the program then ends quietly. On a full disk it says so. */

/** What shells say of a program that wrote where nobody read. */
const BROKEN_PIPE = 141;

const UNWRITTEN = 1;

/** From now on the program ends when its output's reader has gone, or when what it prints can't be written. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(BROKEN_PIPE);
    process.stderr.write(`What this prints can't be written: ${error.message}\n`);
    process.exit(UNWRITTEN);
  });
}
