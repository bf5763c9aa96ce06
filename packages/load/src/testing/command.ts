/** Runs the `s3-accelerator-load` command as its own process, in a directory of its own. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunResult } from '../result/result.ts';
import { loadResult } from '../result/result.ts';

const program = join(import.meta.dirname, '../main.ts');

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export class Workplace {
  readonly directory = mkdtempSync(join(tmpdir(), 's3-accelerator-load-'));
  /** The command's environment: no credentials of whoever runs the tests. */
  readonly environment: Record<string, string> = { PATH: process.env['PATH'] ?? '' };

  remove(): void {
    rmSync(this.directory, { recursive: true });
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.directory, file), text);
  }

  result(file = 'plan.result.json'): RunResult {
    return loadResult(join(this.directory, file));
  }

  /** Starts it; `started` is the process, to be signalled. */
  start(args: readonly string[]): {
    readonly started: ChildProcess;
    readonly ended: Promise<Ended>;
  } {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: this.directory,
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()));
    child.stderr.on('data', (bytes: Buffer) => (err += bytes.toString()));
    const { promise, resolve } = Promise.withResolvers<Ended>();
    child.on('close', (code) => resolve({ code, out, err }));
    return { started: child, ended: promise };
  }

  load(...args: string[]): Promise<Ended> {
    return this.start(args).ended;
  }
}
