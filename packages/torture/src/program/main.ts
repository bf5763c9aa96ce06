/** The program as a life runs it: the real one, whose disk layer notes each write in the undo file, if it is given one. */
import { runCommandLine } from 's3-accelerator/command-line.ts';
import { start } from 's3-accelerator/start/start.ts';

await runCommandLine(process.argv.slice(2), start);
