/** Takes a profile of running processes: with perf where it is installed, else with the profiler that V8 has. */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { start } from '../machine/child.ts';
import { stacksOfCpuProfile } from './cpu-profile.ts';
import { stacksOfPerfScript } from './perf-script.ts';
import type { Stacks } from './stacks.ts';

export interface Profiler {
  readonly name: string;
  /** What stacks are weighed in. */
  readonly unit: string;
  /** What Node has to be started with. */
  readonly nodeFlags: readonly string[];
  /** Samples a process for that long. V8's own samples from its start to its end, so it has nothing to do here. */
  record(pid: number, seconds: number): Promise<void>;
  /** The samples, once the process has ended. */
  stacks(pid: number): Stacks;
}

/** Samples of the CPU's clock a second: not a multiple of the kernel's own ticks. */
const frequency = 997;
/** perf script prints about 2 KiB a sample. */
const longestOutput = 2 ** 30;

export function availableProfiler(directory: string): Profiler {
  return spawnSync('perf', ['--version']).status === 0 ? perf(directory) : ownProfiler(directory);
}

function perf(directory: string): Profiler {
  const dataOf = (pid: number): string => join(directory, `perf-${pid}.data`);
  return {
    name: 'perf',
    unit: 'samples',
    nodeFlags: ['--perf-basic-prof', '--interpreted-frames-native-stack'],
    record: async (pid, seconds) => {
      const record = ['record', '-e', 'cpu-clock', '-F', String(frequency), '-g'];
      const child = start(
        [],
        ['perf', ...record, '-o', dataOf(pid), '-p', String(pid), '--', 'sleep', String(seconds)],
      );
      child.stdout?.resume();
      const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
      if (code !== 0) throw new Error(`perf record ended with ${String(code)}:\n${child.output()}`);
    },
    stacks: (pid) => {
      const script = spawnSync('perf', ['script', '-i', dataOf(pid), '-F', 'comm,ip,sym,dso'], {
        encoding: 'utf8',
        maxBuffer: longestOutput,
      });
      // V8's list of what it compiled: only perf needs it.
      rmSync(`/tmp/perf-${pid}.map`, { force: true });
      if (script.status !== 0) throw new Error(`perf script failed:\n${script.stderr}`);
      return stacksOfPerfScript(script.stdout);
    },
  };
}

function ownProfiler(directory: string): Profiler {
  return {
    name: 'V8',
    unit: 'µs',
    nodeFlags: ['--cpu-prof', `--cpu-prof-dir=${directory}`, '--cpu-prof-name=${pid}.cpuprofile'],
    record: () => Promise.resolve(),
    stacks: (pid) => {
      const [file] = globSync(join(directory, `${pid}.cpuprofile`));
      if (file === undefined) throw new Error(`process ${pid} has left no profile`);
      return stacksOfCpuProfile(readFileSync(file, 'utf8'));
    },
  };
}
