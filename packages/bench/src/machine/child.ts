/** Child processes of a benchmark: started pinned where `taskset` exists, watched, ended by pid. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

const hasTaskset = spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0;
const canPin = hasTaskset && availableParallelism() >= 2;

/** The servers share one processor and the client has the other, as a peer's figure is meaningless otherwise. */
export const serverPrefix: readonly string[] = canPin ? ['taskset', '-c', '0'] : [];
export const clientPrefix: readonly string[] = canPin ? ['taskset', '-c', '1'] : [];
/** For what only keeps the servers busy beside the client that measures: it shares that client's processor and must not delay it. */
export const besidePrefix: readonly string[] = [...clientPrefix, 'nice', '-n', '19'];

/** Moves a process with all its threads to the servers' processor, once it has started. */
export function pinToServers(pid: number): void {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', '0', String(pid)], { stdio: 'ignore' });
}

/**
 * Children of Node keep what they compiled here, from run to run: there are some fifty of them, and more than half of what a start
 * costs is compiling the same files again.
 */
const compileCache = join(tmpdir(), 's3-accelerator-bench-compiled');
/** For a start that is measured, as it is for everybody else: the program keeps what it compiled beside itself. */
export const ownCompileCache = { NODE_COMPILE_CACHE: '' };

/** A child, and the last of what it printed to standard error. */
export type StartedChild = ChildProcess & { readonly output: () => string };

const running = new Set<ChildProcess>();

/** How long children have to end by themselves. */
const patienceMs = 1000;

/**
 * Ends every child that still runs: with a request first, as nginx would leave its workers behind, then at once. Nothing else of
 * this process goes on meanwhile.
 */
export function endAll(): void {
  for (const child of running) child.kill('SIGTERM');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, patienceMs);
  for (const child of running) child.kill('SIGKILL');
}

/** Starts a child; what it prints to standard error is kept and shown when it fails. */
export function start(
  prefix: readonly string[],
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): StartedChild {
  const [program = '', ...args] = [...prefix, ...command];
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache, ...environment },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const kept: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => {
    kept.push(chunk.toString());
    if (kept.length > 50) kept.shift();
  });
  return Object.assign(child, { output: () => kept.join('') });
}

/** Ends a child and waits for it. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

/** Feeds a child its input, waits for its end and gives what it printed. Throws when it fails, that is, ends with another code. */
export async function runToEnd(
  prefix: readonly string[],
  command: readonly string[],
  input: string,
  allowedCodes: readonly number[] = [0],
): Promise<string> {
  const child = start(prefix, command);
  const printed: string[] = [];
  child.stdout?.on('data', (chunk: Buffer) => printed.push(chunk.toString()));
  // One that ends before it has read everything says why itself.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  // Not `exit`, which may come before the last of what it printed.
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code === null || !allowedCodes.includes(code))
    throw new Error(`${command.join(' ')} ended with ${String(code)}\n${child.output()}`);
  return printed.join('');
}
