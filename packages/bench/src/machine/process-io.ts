/** What the kernel has counted of a process's reading and writing, from /proc. */
import { readFileSync } from 'node:fs';

function counter(pid: number, name: string): number {
  const line = new RegExp(`^${name}: (\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/io`, 'utf8'));
  return Number(line?.[1] ?? Number.NaN);
}

/** Bytes that a process has caused to be written to disks. */
export const bytesToDisk = (pid: number): number => counter(pid, 'write_bytes');

/** Bytes that a process has written to anything, sockets included. */
export const writtenCharacters = (pid: number): number => counter(pid, 'wchar');
