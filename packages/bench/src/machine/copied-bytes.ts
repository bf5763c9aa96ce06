/** How many bytes processes send out of their own memory, seen from outside with strace: nothing that a program says of itself. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NotMeasurable } from '../figure.ts';

/** Calls that send out of a program's memory. What they send it has received into its memory before, so those suffice. */
const copyingCalls = 'write,pwrite64,writev,pwritev,pwritev2,sendto,sendmsg,sendmmsg';

export interface CopyWatch {
  /** Stops watching; the bytes that each process has sent out of its memory since. */
  stop(): Promise<number[]>;
}

/** Watches every thread of these processes. Throws NotMeasurable without strace, or without leave to use it. */
export async function watchCopies(pids: readonly number[], directory: string): Promise<CopyWatch> {
  if (spawnSync('strace', ['--version']).status !== 0) throw new NotMeasurable('no strace here');
  mkdirSync(directory, { recursive: true });
  const watched = await Promise.all(pids.map((pid) => attach(pid, join(directory, String(pid)))));
  return {
    stop: () => Promise.all(watched.map(detach)),
  };
}

interface Watched {
  readonly child: ChildProcess;
  readonly file: string;
}

async function attach(pid: number, file: string): Promise<Watched> {
  const options = ['-f', '-s', '0', '-e', `trace=${copyingCalls}`, '-o', file, '-p', String(pid)];
  const child = spawn('strace', options, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  for (let attempt = 0; attempt < 200; attempt++) {
    if (child.exitCode !== null) throw new NotMeasurable(`strace can't attach: ${said.trim()}`);
    if (said.includes('attached')) return { child, file };
    await sleep(25);
  }
  child.kill('SIGKILL');
  throw new NotMeasurable(`strace doesn't attach: ${said.trim()}`);
}

async function detach({ child, file }: Watched): Promise<number> {
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await ended;
  // Each line ends with what the call returned, also that of a call which another thread interrupted.
  return [...readFileSync(file, 'utf8').matchAll(/ = (\d+)$/gm)].reduce(
    (sum, match) => sum + Number(match[1]),
    0,
  );
}
