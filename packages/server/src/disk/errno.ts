/** Errors of Node's file system calls as the reactor tells them: positive errno numbers, 0 for success. */
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';

export function errnoOf(error: NodeJS.ErrnoException | null): number {
  if (error === null) return 0;
  return error.errno === undefined ? constants.errno.EIO : Math.abs(error.errno);
}

/** `EIO`, `ENOSPC`, … */
export function errnoName(errno: number): string {
  return getSystemErrorName(-errno);
}
