/** What was measured where: the lines that a figure is worth nothing without. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../../..');

export interface Description {
  /** YYYY-MM-DD. */
  readonly date: string;
  /** Short, with a plus sign when files had changed since. */
  readonly commit: string;
  readonly machine: string;
  readonly kernel: string;
  readonly node: string;
}

export function describeMachine(): Description {
  const model = /model name\s*: (.*)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown';
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: commit(),
    machine: `${cpus().length} × ${model}`,
    kernel: release(),
    node: process.versions.node,
  };
}

function commit(): string {
  const git = (...args: string[]): string => {
    const run = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    return run.status === 0 ? run.stdout.trim() : '';
  };
  const hash = git('rev-parse', '--short', 'HEAD');
  if (hash === '') return 'unknown';
  return git('status', '--porcelain', '--untracked-files=no', '--', 'packages') === ''
    ? hash
    : `${hash}+`;
}
