/** The C program of floor.c, compiled for the run where there is a compiler, and started on a file of its own. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { start, stop } from '../machine/child.ts';
import { installedVersion, type RunningPeer } from './peer.ts';

const source = join(import.meta.dirname, 'floor.c');

/** The version of the C compiler, or null. */
export const compilerVersion = (): string | null =>
  installedVersion('cc', '--version', /(\d+\.\d+\.\d+)/);

/** Answers every GET with `answerBytes` out of a file of `fileBytes`, which is in the page cache. */
export async function startFloor(options: {
  readonly directory: string;
  readonly answerBytes: number;
  readonly fileBytes: number;
  readonly launch: readonly string[];
}): Promise<RunningPeer> {
  const { directory, answerBytes, fileBytes, launch } = options;
  mkdirSync(directory, { recursive: true });
  const program = join(directory, 'floor');
  const compiled = spawnSync('cc', ['-O2', '-Wall', '-Wextra', '-Werror', '-o', program, source], {
    encoding: 'utf8',
  });
  if (compiled.status !== 0) throw new Error(`floor.c doesn't compile:\n${compiled.stderr}`);
  const file = join(directory, 'floor.bytes');
  writeFileSync(file, Buffer.alloc(fileBytes, 'floor'));
  const child = start(launch, [program, file, String(answerBytes)]);
  if (child.stdout === null) throw new Error('the floor has no output');
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'exit').then(() => {
      throw new Error(`the floor ended:\n${child.output()}`);
    }),
  ])) as [string];
  return { port: Number(line), pids: () => [child.pid ?? 0], stop: () => stop(child) };
}
