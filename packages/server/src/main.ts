/** The program: `s3-accelerator CONFIG.toml`. */
import { runCommandLine } from './command-line.ts';
import { letHeapGrow } from './start/heap-growth.ts';
import { start } from './start/start.ts';

letHeapGrow();
await runCommandLine(process.argv.slice(2), start);
