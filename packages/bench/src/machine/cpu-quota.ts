/**
 * Holds a process to a share of a processor, with a control group of its own: version 2, or version 1 where the cpu controller is
 * mounted by itself. Needs root. The group is removed after.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NotMeasurable } from '../figure.ts';

const mount = '/sys/fs/cgroup';
const periodUs = 100_000;

export interface CpuQuota {
  /** Lets the process run freely again and removes the group. The process may have ended. */
  remove(): void;
}

/** Throws NotMeasurable where the kernel or its settings don't allow it. */
export function limitCpu(pid: number, share: number): CpuQuota {
  const { parent, quotaFile, quota } = controller(Math.round(share * periodUs));
  const group = join(parent, `s3-accelerator-bench-${process.pid}-${pid}`);
  try {
    mkdirSync(group);
    writeFileSync(join(group, quotaFile), quota);
    writeFileSync(join(group, 'cgroup.procs'), String(pid));
  } catch (error) {
    removeGroup(parent, group, pid);
    throw new NotMeasurable(`no control group with a CPU quota: ${(error as Error).message}`);
  }
  return { remove: () => removeGroup(parent, group, pid) };
}

function controller(quotaUs: number): { parent: string; quotaFile: string; quota: string } {
  const separate = join(mount, 'cpu');
  if (existsSync(join(separate, 'cpu.cfs_quota_us'))) {
    return { parent: separate, quotaFile: 'cpu.cfs_quota_us', quota: String(quotaUs) };
  }
  const controllers = join(mount, 'cgroup.subtree_control');
  if (existsSync(controllers) && readFileSync(controllers, 'utf8').split(/\s+/).includes('cpu')) {
    return { parent: mount, quotaFile: 'cpu.max', quota: `${quotaUs} ${periodUs}` };
  }
  throw new NotMeasurable(`no cpu controller of control groups below ${mount}`);
}

function removeGroup(parent: string, group: string, pid: number): void {
  if (!existsSync(group)) return;
  if (existsSync(`/proc/${pid}`)) writeFileSync(join(parent, 'cgroup.procs'), String(pid));
  rmdirSync(group);
}
