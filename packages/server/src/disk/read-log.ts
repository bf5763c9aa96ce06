/**
 * Reads the metadata log of an earlier life, before anybody is served, and cuts off what can't be read.
 *
 * A log of another cache, or of another format, is begun anew: nothing in it is of use. Its memory is one piece of the file.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import {
  encodeLogHeader,
  isLogOf,
  LOG_HEADER_BYTES,
  MAX_LOG_ENTRY_BYTES,
  readEntries,
  type LogReader,
} from '@s3-accelerator/core/journal/metadata-log.ts';
import { readAll } from './data-directory.ts';
import { logName } from './log-file.ts';
import type { StartProgress } from './start-progress.ts';

/** What was found. Bytes past `goodBytes` were cut off. */
export interface LogFound {
  readonly entries: number;
  readonly goodBytes: number;
  /** new: there was none. foreign: it was another cache's. torn: its end was damaged. */
  readonly state: 'whole' | 'new' | 'foreign' | 'torn';
}

/** More than the longest entry, so that each piece brings at least one. */
const pieceBytes = 4 << 20;

/** Tells `reader` every entry, then leaves a file that can be appended to. Rejects with Node's own errors, or what `progress` rejects with. */
export async function readMetadataLog(
  directory: string,
  cacheId: Readonly<Hash128>,
  reader: LogReader,
  progress: Pick<StartProgress, 'tell'>,
): Promise<LogFound> {
  const { O_RDWR, O_CREAT } = constants;
  const descriptor = openSync(join(directory, logName), O_RDWR | O_CREAT, 0o600);
  try {
    const { size } = fstatSync(descriptor);
    const header = new Uint8Array(LOG_HEADER_BYTES);
    readAll(descriptor, header, 0);
    if (!isLogOf(header, cacheId)) {
      ftruncateSync(descriptor, 0);
      writeSync(descriptor, encodeLogHeader(cacheId), 0, LOG_HEADER_BYTES, 0);
      return { entries: 0, goodBytes: LOG_HEADER_BYTES, state: size === 0 ? 'new' : 'foreign' };
    }
    const { entries, goodBytes } = await readAllEntries(descriptor, size, reader, progress);
    if (goodBytes < size) ftruncateSync(descriptor, goodBytes);
    return { entries, goodBytes, state: goodBytes < size ? 'torn' : 'whole' };
  } finally {
    closeSync(descriptor);
  }
}

async function readAllEntries(
  descriptor: number,
  size: number,
  reader: LogReader,
  progress: Pick<StartProgress, 'tell'>,
): Promise<{ entries: number; goodBytes: number }> {
  const piece = new Uint8Array(Math.max(pieceBytes, 2 * MAX_LOG_ENTRY_BYTES));
  let goodBytes = LOG_HEADER_BYTES;
  let entries = 0;
  while (goodBytes < size) {
    const length = readAll(descriptor, piece, goodBytes);
    const read = readEntries(piece.subarray(0, length), 0, reader);
    goodBytes += read.end;
    entries += read.entries;
    await progress.tell(goodBytes, size);
    // What is left of the last piece is an entry that was cut off.
    if (read.isTorn || read.end === 0) break;
  }
  return { entries, goodBytes };
}
