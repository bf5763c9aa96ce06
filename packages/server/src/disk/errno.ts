/** Errors of Node's file system calls as the reactor tells them: positive errno numbers, 0 for success. */
import { getSystemErrorName } from 'node:util';

/** Throws what is no error of a system call: a bug. */
export function errnoOf(error: NodeJS.ErrnoException | null): number {
  if (error === null) return 0;
  if (error.errno === undefined) throw error;
  return Math.abs(error.errno);
}

/** `EIO`, `ENOSPC`, … */
export function errnoName(errno: number): string {
  return getSystemErrorName(-errno);
}
