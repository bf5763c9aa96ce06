import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** User and system CPU seconds that a process and all its threads have used so far, from /proc. */
function cpuSeconds(pid: number): number {
  // The command in parentheses may contain spaces: fields are counted from behind it.
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** CPU seconds of all these processes together. */
export function totalCpuSeconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
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
