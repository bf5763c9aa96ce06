/** The program as a life runs it: the real one, whose disk layer notes each write in the undo file, if it is given one. */
import { runCommandLine } from 's3-accelerator/command-line.ts';
import { start } from 's3-accelerator/start/start.ts';
import { recordingIn } from '../disk/recording-files.ts';

const undoFile = process.env['S3ACCEL_UNDO_FILE'];
const wrapFiles = undoFile === undefined ? null : recordingIn(undoFile);

await runCommandLine(process.argv.slice(2), (config, log, { signal }) =>
  start(config, log, wrapFiles === null ? { signal } : { signal, wrapFiles }),
);
