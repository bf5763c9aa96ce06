/**
 * Which pages of a slab the program will serve without a look: those of blocks that a cleanly ended run recorded. They stay trusted
 * through later crashes, so to hurt them would be what the drive is trusted not to do, and the kill test leaves them alone.
 *
 * The program's own formats say which rows count.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import {
  decodeRecord,
  recordSeed,
  RECORD_BYTES,
  RECORD_WORDS,
} from '@s3-accelerator/core/journal/slot-record.ts';
import { planStart } from '@s3-accelerator/core/journal/start-plan.ts';
import {
  decodeTableHeader,
  endedClean,
  HEADER_BYTES,
  rowPosition,
} from '@s3-accelerator/core/journal/table-header.ts';
import { newBlockPlace } from '@s3-accelerator/core/store/block-place.ts';

const pageBytes = 4096;

/** Numbers of the trusted pages of a slab, as a program would see it that started on this slot table. Files may be missing. */
export function trustedPages(slabPath: string, tablePath: string): Set<number> {
  const pages = new Set<number>();
  const table = contentOf(tablePath);
  const found = decodeTableHeader(table.subarray(0, HEADER_BYTES));
  if (found.kind !== 'header') return pages;
  const { header } = found;
  const plan = planStart(table.subarray(0, HEADER_BYTES), headOf(slabPath), header, header.cacheId);
  if (plan.kind === 'empty' || !plan.isSlabTrusted) return pages;
  const rows = Math.floor(Math.max(0, table.length - rowPosition(0)) / RECORD_BYTES);
  const words = new Int32Array(rows * RECORD_WORDS);
  new Uint8Array(words.buffer).set(table.subarray(rowPosition(0), rowPosition(rows)));
  const seed = recordSeed(header.cacheId);
  const place = newBlockPlace();
  const claim = { checksum: 0, run: 0 };
  for (let row = 0; row < rows; row++) {
    if (decodeRecord(words, row * RECORD_WORDS, row, seed, place, claim) !== 'valid') continue;
    if (!endedClean(plan.header, claim.run)) continue;
    const start = HEADER_BYTES + place.extent * header.extentBytes + place.place * place.slotBytes;
    for (let at = start; at < start + place.length; at += pageBytes) pages.add(at / pageBytes);
  }
  return pages;
}

function contentOf(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch {
    return new Uint8Array(0);
  }
}

/** The first HEADER_BYTES of a file, as far as it goes. */
function headOf(path: string): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch {
    return new Uint8Array(0);
  }
  const length = readSync(descriptor, bytes, 0, HEADER_BYTES, 0);
  closeSync(descriptor);
  return bytes.subarray(0, length);
}
