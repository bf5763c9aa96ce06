/** CPU time of the processes that are measured, out of /proc: their own, not what a client spends on them. */
import { existsSync, readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';

export const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** User and system CPU seconds that a process and all its threads have used so far, from /proc. */
function cpuSeconds(pid: number): number {
  // The command in parentheses may contain spaces: fields are counted from behind it.
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** CPU seconds that these processes have used since then; one that ended meanwhile counts until it was last seen alive. */
export class CpuMeter {
  readonly #before: readonly { readonly pid: number; readonly seconds: number }[];

  constructor(pids: readonly number[]) {
    this.#before = pids.map((pid) => ({ pid, seconds: secondsOrNull(pid) ?? 0 }));
  }

  /** Of each process. */
  used(): number[] {
    return this.#before.map(({ pid, seconds }) =>
      Math.max(0, (secondsOrNull(pid) ?? seconds) - seconds),
    );
  }
}

/** nginx's cache loader, for one, ends by itself a minute after the start. */
function secondsOrNull(pid: number): number | null {
  return existsSync(`/proc/${pid}/stat`) ? cpuSeconds(pid) : null;
}

/** A process and its descendants, which is how nginx's workers are found. */
export function processTree(pid: number): number[] {
  let children: number[] = [];
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    children = text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return [pid];
  }
  return [pid, ...children.flatMap(processTree)];
}
