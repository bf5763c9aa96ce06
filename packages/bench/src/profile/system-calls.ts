/** System calls of a process, counted by `strace -c`: how many of each for a request. The counts are right; times under strace aren't. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { NotMeasurable } from '../figure.ts';

export interface CallCount {
  readonly name: string;
  readonly calls: number;
}

export function assertStrace(): void {
  if (spawnSync('strace', ['--version']).status !== 0) {
    throw new NotMeasurable('no strace here: scripts/peers install');
  }
}

/** Counts the calls of a process and all its threads for that long. */
export async function countCalls(pid: number, ms: number): Promise<CallCount[]> {
  const child = spawn('strace', ['-c', '-f', '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await sleep(ms);
  const ended = once(child, 'close');
  child.kill('SIGINT');
  await ended;
  return callsOfSummary(printed);
}

/** The lines of strace's summary: share, seconds, microseconds a call, calls, errors where there were any, name. */
export function callsOfSummary(text: string): CallCount[] {
  return [...text.matchAll(/^ *[\d.]+ +[\d.]+ +\d+ +(\d+)(?: +\d+)? +([a-z]\w*)$/gm)]
    .map(([, calls = '', name = '']) => ({ name, calls: Number(calls) }))
    .filter(({ name }) => name !== 'total')
    .sort((a, b) => b.calls - a.calls);
}
