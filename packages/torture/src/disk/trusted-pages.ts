/**
 * Which pages of a slab the program may serve without a look: those of blocks that a cleanly ended run recorded. They stay trusted
 * through later crashes, so to hurt them would be what the drive is trusted not to do, and the kill test leaves them alone.
 *
 * Which runs may count as ended cleanly the test knows from how it ended them; of the program it takes only the formats.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import {
  decodeRecord,
  RECORD_BYTES,
  RECORD_WORDS,
  recordSeed,
} from '@s3-accelerator/core/journal/slot-record.ts';
import {
  decodeSlabHeader,
  decodeTableHeader,
  HEADER_BYTES,
  placePosition,
  rowPosition,
  type TableHeader,
} from '@s3-accelerator/core/journal/table-header.ts';
import { newBlockPlace } from '@s3-accelerator/core/store/block-place.ts';

const pageBytes = 4096;

const nameOf = ({ cacheId: { h0, h1, h2, h3 } }: TableHeader, run: number): string =>
  [h0, h1, h2, h3, run].join('.');

export class StoppedRuns {
  readonly #names = new Set<string>();

  /** The run that this slot table speaks of was told to stop: from now on its blocks may be trusted. */
  add(tablePath: string): void {
    const found = decodeTableHeader(contentOf(tablePath, HEADER_BYTES));
    if (found.kind === 'header') this.#names.add(nameOf(found.header, found.header.run));
  }

  /** Numbers of the trusted pages of a slab, as a program would see it that starts on this slot table. Files may be missing. */
  trustedPages(slabPath: string, tablePath: string): Set<number> {
    const pages = new Set<number>();
    const table = contentOf(tablePath);
    const found = decodeTableHeader(table.subarray(0, HEADER_BYTES));
    const slab = decodeSlabHeader(contentOf(slabPath, HEADER_BYTES));
    if (found.kind !== 'header' || slab.kind !== 'header') return pages;
    const { header } = found;
    if (nameOf(slab.header, slab.header.run) !== nameOf(header, header.run)) return pages;
    const rows = Math.floor(Math.max(0, table.length - rowPosition(0)) / RECORD_BYTES);
    const words = new Int32Array(rows * RECORD_WORDS);
    new Uint8Array(words.buffer).set(table.subarray(rowPosition(0), rowPosition(rows)));
    const seed = recordSeed(header.cacheId);
    const place = newBlockPlace();
    const claim = { checksum: 0, run: 0 };
    for (let row = 0; row < rows; row++) {
      if (decodeRecord(words, row * RECORD_WORDS, row, seed, place, claim) !== 'valid') continue;
      if (!this.#names.has(nameOf(header, claim.run))) continue;
      const start = placePosition(place, header.extentBytes);
      for (let at = start; at < start + place.length; at += pageBytes) pages.add(at / pageBytes);
    }
    return pages;
  }
}

/** All of a file, or its first bytes as far as it goes; nothing if it is missing. */
function contentOf(path: string, first?: number): Uint8Array {
  try {
    if (first === undefined) return readFileSync(path);
    const descriptor = openSync(path, 'r');
    const bytes = new Uint8Array(first);
    const length = readSync(descriptor, bytes, 0, first, 0);
    closeSync(descriptor);
    return bytes.subarray(0, length);
  } catch {
    return new Uint8Array(0);
  }
}
