/** What Node can't do to files and memory: aligned memory, O_DIRECT, preallocation, locks, the page cache. */
import { constants, openSync } from 'node:fs';

import { native } from './native.ts';
import { ReactorError } from './reactor.ts';

const pageBytes = 4096;
/** What a huge page has on x64, and on arm64 with the usual pages of 4 KiB. */
const hugePageBytes = 2 << 20;

/** Zeroed memory for direct reads and writes: its address is a multiple of 4096. */
export function alignedMemory(bytes: number): Uint8Array {
  return new Uint8Array(native.allocateAligned(bytes, pageBytes, false));
}

/**
 * Zeroed memory for a large table that is read at random: in huge pages (2 MiB) where the kernel has them for those who ask, which
 * spares most reads a second wait, for the place of their page.
 */
export function tableMemory(bytes: number): ArrayBuffer {
  return bytes < hugePageBytes
    ? new ArrayBuffer(bytes)
    : native.allocateAligned(bytes, hugePageBytes, true);
}

/** Opens a file for direct reading and writing, making it when it doesn't exist. Throws Node's own errors. */
export function openDirect(path: string): number {
  return openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_DIRECT, 0o600);
}

/** Makes sure that the file's first `bytes` bytes have their place on the disk. Throws ReactorError (ENOSPC, …). */
export function preallocate(descriptor: number, bytes: number): void {
  const errno = native.preallocate(descriptor, bytes);
  if (errno !== 0) throw new ReactorError(`preallocate ${bytes} bytes`, errno);
}

/** Takes the file's lock as long as the descriptor is open. False when another process has it. Throws ReactorError. */
export function lock(descriptor: number): boolean {
  const errno = native.lockFile(descriptor);
  if (errno === 0) return true;
  const error = new ReactorError('lock', errno);
  if (error.code === 'EAGAIN') return false;
  throw error;
}

/** Asks the kernel to forget a clean range of the file; `length` 0 means to its end. Throws ReactorError. */
export function dropFromPageCache(descriptor: number, offset: number, length: number): void {
  const errno = native.adviseCold(descriptor, offset, length);
  if (errno !== 0) throw new ReactorError('posix_fadvise', errno);
}

/**
 * Whether pages that were lent to a socket keep their bytes when this directory's file system overwrites them with
 * O_DIRECT. `unsupported` when it can't write so at all. Throws ReactorError when the trial itself failed.
 */
export function lentPagesSurvive(directory: string): 'yes' | 'no' | 'unsupported' {
  const outcome = native.lentPagesSurvive(directory);
  if (outcome === 1) return 'yes';
  if (outcome === 0) return 'no';
  const error = new ReactorError(`the trial of lent pages in ${directory}`, -outcome);
  if (error.code === 'EINVAL' || error.code === 'EOPNOTSUPP') return 'unsupported';
  throw error;
}

/** CRC32C of bytes, as a u32: the checksum that `writeFile` and `checksumFile` of the reactor tell. */
export function crc32c(bytes: Uint8Array): number {
  return native.checksumOf(bytes, false);
}

/** Raises the limit of open files as far as allowed; returns the limit in force. */
export function raiseFileLimit(): number {
  return native.raiseFileLimit();
}
