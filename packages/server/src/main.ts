/** The program: `s3-accelerator CONFIG.toml`. */
import { runCommandLine } from './command-line.ts';
import { start } from './start/start.ts';

await runCommandLine(process.argv.slice(2), start);
