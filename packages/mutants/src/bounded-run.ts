/**
 * Runs one command until it fails, ends or runs out of time, with everything that it started.
 *
 * The command leads a process group of its own, and the whole group is killed at the end: a test that hangs may have left
 * servers behind. The first failure is enough, so the rest isn't waited for.
 */
import { spawn } from 'node:child_process';

export interface Command {
  readonly args: readonly string[];
  readonly cwd: string;
  /** Finds the first failure in a line of output: its first group says what failed. */
  readonly failure: RegExp;
  /** Finds, in the lines after that, the file in which it failed: its first group. Without it nothing more is read. */
  readonly place?: RegExp;
}

export interface Verdict {
  readonly kind: 'passed' | 'failed' | 'hung';
  /** failed: what failed first, '' when the output doesn't say. */
  readonly what: string;
  /** failed: the file of the test that did, '' when the output doesn't say. */
  readonly where: string;
  readonly seconds: number;
  /** The end of what it printed. */
  readonly tail: string;
}

/** Leaders of the groups that run right now: none outlives us. */
const running = new Set<number>();
process.on('exit', () => {
  for (const pid of running) killGroup(pid);
});

const tailBytes = 4000;
/** One line of output that is kept to be looked at, at most. */
const lineBytes = 64 * 1024;
/** How long a command that has failed is listened to for where it did. */
const placeMs = 2000;

/** Runs Node with the command's arguments for `limitSeconds` at most. */
export function boundedRun(command: Command, limitSeconds: number): Promise<Verdict> {
  const started = performance.now();
  const child = spawn(process.execPath, command.args, {
    cwd: command.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    // A test runner that finds itself inside another one reports to that one.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_ENV: 'test' },
  });
  let tail = '';
  let line = '';
  let failure: string | null = null;
  let where: string | null = null;
  let ranOut = false;
  const { pid } = child;
  if (pid !== undefined) running.add(pid);
  const kill = (): void => {
    if (pid !== undefined) killGroup(pid);
  };
  const timer = setTimeout(() => {
    ranOut = true;
    kill();
  }, limitSeconds * 1000);
  const onOutput = (bytes: Buffer): void => {
    const text = bytes.toString('utf8');
    tail = (tail + text).slice(-tailBytes);
    const lines = (line + text).split('\n');
    line = (lines.pop() ?? '').slice(-lineBytes);
    for (const each of lines) {
      if (failure === null) {
        const match = command.failure.exec(each);
        if (match === null) continue;
        failure = match[1] ?? '';
        if (command.place === undefined) kill();
        else setTimeout(kill, placeMs).unref();
      } else if (where === null) {
        const match = command.place?.exec(each) ?? null;
        if (match === null) continue;
        where = match[1] ?? '';
        kill();
      }
    }
  };
  child.stdout.on('data', onOutput);
  child.stderr.on('data', onOutput);
  return new Promise((resolve) => {
    const end = (code: number | null, problem: string): void => {
      clearTimeout(timer);
      kill();
      if (pid !== undefined) running.delete(pid);
      const seconds = (performance.now() - started) / 1000;
      const failed = failure !== null || (code !== 0 && !ranOut);
      const kind = failed ? 'failed' : ranOut ? 'hung' : 'passed';
      resolve({ kind, what: failure ?? problem, where: where ?? '', seconds, tail });
    };
    child.on('error', (error) => {
      end(1, error.message);
    });
    child.on('close', (code) => {
      end(code, '');
    });
  });
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}
