// One process of a cluster on this machine: started so that it outlives the command, found again by its pid.
//
// A pid alone may be another process's by then, so the moment it was started is remembered with it, as /proc tells it.
import { spawn } from 'node:child_process';
import { openSync, closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = join(import.meta.dirname, '..', '..');
const pollMs = 100;

export interface Part {
  /** s3, gateway or node-ID. */
  readonly name: string;
  readonly pid: number;
  /** Clock ticks from the machine's start to the process's. */
  readonly startedAt: string;
  readonly log: string;
  /** Its admin listener; 0 for none. */
  readonly adminPort: number;
  /** It has given up its place in the ring, and serves on for a while. */
  readonly hasLeft?: boolean;
}

/** Starts a script of this project in the background; what it says goes to the log. */
export function startPart(
  name: string,
  args: readonly string[],
  log: string,
  adminPort: number,
): Part {
  const output = openSync(log, 'a');
  const stdio = ['ignore', output, output] as const;
  const child = spawn(process.execPath, args, { cwd: root, detached: true, stdio: [...stdio] });
  closeSync(output);
  child.unref();
  const pid = child.pid ?? 0;
  return { name, pid, startedAt: startOf(pid) ?? '', log, adminPort };
}

export function isRunning({ pid, startedAt }: Part): boolean {
  return startedAt !== '' && startOf(pid) === startedAt;
}

export function signal(part: Part, name: NodeJS.Signals): void {
  if (isRunning(part)) process.kill(part.pid, name);
}

/** Waits until it has ended; false when it takes longer than that. */
export async function ended(part: Part, withinMs: number): Promise<boolean> {
  return until(() => Promise.resolve(!isRunning(part)), withinMs);
}

/** Waits until it answers that it is ready; false when it ends, takes too long, or when it is in vain. */
export async function isReady(
  part: Part,
  withinMs: number,
  isOfUse: () => boolean = () => true,
): Promise<boolean> {
  let hasEnded = false;
  const ready = await until(async () => {
    hasEnded = !isRunning(part) || !isOfUse();
    return hasEnded || (await get(part, '/readyz'))?.status === 200;
  }, withinMs);
  return ready && !hasEnded;
}

/** A metric's samples added up, by name and by what its labels contain; null when the process doesn't answer. */
export async function metricsOf(
  part: Part,
): Promise<((name: string, label?: string) => number) | null> {
  const text = (await get(part, '/metrics'))?.body;
  if (text === undefined) return null;
  const lines = text.split('\n');
  return (name, label = '') =>
    lines
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => line.includes(label))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** The last lines that it said. */
export function lastWords({ log }: Part): string {
  return readFileSync(log, 'utf8').trimEnd().split('\n').slice(-5).join('\n');
}

export async function until(holds: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > end) return false;
    await sleep(pollMs);
  }
  return true;
}

async function get(
  { adminPort }: Part,
  path: string,
): Promise<{ readonly status: number; readonly body: string } | undefined> {
  try {
    const url = `http://127.0.0.1:${adminPort}${path}`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(2000) });
    return { status: answer.status, body: await answer.text() };
  } catch {
    return undefined;
  }
}

/** When a process was started, from /proc/PID/stat; null when there is none, or only what its parent hasn't read yet. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in brackets, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}
