/** What the benchmark needs of a system that it compares with: where it answers, which processes it is, how it ends. */
import { spawnSync } from 'node:child_process';
import { stop, type StartedChild } from '../machine/child.ts';
import { untilAnswers } from '../machine/ports.ts';
import { processTree } from '../machine/process-cpu.ts';

export interface RunningPeer {
  readonly port: number;
  /** All its processes, children included. */
  readonly pids: () => readonly number[];
  readonly stop: () => Promise<void>;
}

/** Waits until a child that was just started answers on its port; ends it when it doesn't. */
export async function onceItAnswers(child: StartedChild, port: number): Promise<RunningPeer> {
  child.stdout?.resume();
  try {
    await untilAnswers(port, () => child.output());
  } catch (error) {
    await stop(child);
    throw error;
  }
  return { port, pids: () => processTree(child.pid ?? 0), stop: () => stop(child) };
}

/** What a program prints about its version, or null when it isn't installed. */
export function installedVersion(program: string, flag: string, version: RegExp): string | null {
  const run = spawnSync(program, [flag], { encoding: 'utf8' });
  if (run.error !== undefined) return null;
  return version.exec(`${run.stdout}${run.stderr}`)?.[1] ?? null;
}
