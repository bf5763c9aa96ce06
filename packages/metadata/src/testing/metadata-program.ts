/** The metadata service as its users run it, for tests: a child process on a file that a test rewrites. */
import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const program = join(import.meta.dirname, '../../bin/s3-accelerator-metadata.mjs');

export interface MetadataProgram {
  readonly url: string;
  readonly pid: number;
  log(): string;
  /** Rewrites its file, sends SIGHUP, and waits until that is done. */
  reload(config: string): Promise<void>;
  /** Ends it; null when it didn't end by itself. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts it on a file in `directory`. `port` 0 lets the kernel choose. `ofService` is more of its `[service]` table. */
export async function startMetadata(
  directory: string,
  config: string,
  port = 0,
  ofService = '',
): Promise<MetadataProgram> {
  const file = join(directory, 'metadata.toml');
  const write = (text: string): void => {
    writeFileSync(file, `[service]\nlisten = "127.0.0.1:${port}"\n${ofService}\n${text}`);
  };
  write(config);
  const child: ChildProcess = spawn(process.execPath, [program, file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const logged = async (what: RegExp, from = 0): Promise<RegExpExecArray> => {
    for (let attempt = 0; attempt < 400; attempt += 1) {
      const match = what.exec(log.slice(from));
      if (match !== null) return match;
      if (child.exitCode !== null) break;
      await sleep(25);
    }
    throw new Error(`the metadata service never said ${what.source}:\n${log}`);
  };
  const [, at = ''] = await logged(/"at":"([^"]+)"/);
  return {
    url: `http://${at}`,
    pid: child.pid ?? 0,
    log: () => log,
    reload: async (text) => {
      const from = log.length;
      write(text);
      child.kill('SIGHUP');
      await logged(/"reloaded"|nothing changed/, from);
    },
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}
