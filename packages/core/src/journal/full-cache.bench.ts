/**
 * Writes the files of a full cache, so that a restart on them can be timed: `node full-cache.bench.ts DIRECTORY CAPACITY_BYTES
 * BLOCKS`. What recovery itself costs is timed by recovery.bench.ts, without files.
 *
 * Blocks are of 4 KiB, 255 to an extent, so that millions of them fit on a small disk; the slab is a header and a hole. The
 * run that "wrote" them ended clean.
 */
import { closeSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Store } from '../store/store.ts';
import { newBlockPlace } from '../store/block-place.ts';
import { encodeRecord, RECORD_WORDS, recordSeed } from './slot-record.ts';
import {
  cleanEnd,
  encodeSlabHeader,
  encodeTableHeader,
  firstHeader,
  headerPosition,
  rowPosition,
  type TableHeader,
} from './table-header.ts';

const blockBytes = 1 << 20;
const smallBlockBytes = 4096;
/** CRC32C of a block that was never written: 4 KiB of zeros. The scrub finds it intact. */
const checksumOfZeros = 0x98f94189 | 0;
const slotsPerExtent = 255;
const rowsAtATime = 1 << 14;

/** The rows of slots 1 to `blocks`, in pieces. */
function* rowsOf(header: TableHeader, blocks: number): Iterable<Int32Array> {
  const seed = recordSeed(header.cacheId);
  const place = newBlockPlace();
  const claim = { checksum: checksumOfZeros, run: header.run };
  for (let first = 1; first <= blocks; first += rowsAtATime) {
    const count = Math.min(rowsAtATime, blocks - first + 1);
    const words = new Int32Array(count * RECORD_WORDS);
    for (let row = 0; row < count; row++) {
      const slot = first + row;
      place.version.h0 = Math.imul(slot, 0x9e3779b1) >>> 0;
      place.version.h1 = Math.imul(slot, 0x85ebca6b) >>> 0;
      place.version.h2 = slot;
      place.version.h3 = ~slot >>> 0;
      place.length = smallBlockBytes;
      place.placementHi = place.version.h1;
      place.placementLo = place.version.h0;
      place.extent = Math.floor((slot - 1) / slotsPerExtent);
      place.place = (slot - 1) % slotsPerExtent;
      place.slotBytes = smallBlockBytes;
      encodeRecord(words, row * RECORD_WORDS, slot, place, claim, seed);
    }
    yield words;
  }
}

/** Writes `slab` and `slots` of a cache of `capacityBytes` with so many blocks; they must fit. */
export function writeFullCache(directory: string, capacityBytes: number, blocks: number): void {
  const store = new Store({ capacityBytes, blockBytes, seed: { hi: 1, lo: 2 } });
  const header = cleanEnd(firstHeader({ h0: 1, h1: 2, h2: 3, h3: 4 }, store));
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const slab = openSync(join(directory, 'slab'), 'w', 0o600);
  writeSync(slab, encodeSlabHeader(header), 0);
  ftruncateSync(slab, store.slabBytes);
  closeSync(slab);
  const table = openSync(join(directory, 'slots'), 'w', 0o600);
  const head = encodeTableHeader(header);
  writeSync(table, head, 0, head.length, headerPosition(header));
  let position = rowPosition(1);
  for (const words of rowsOf(header, blocks)) {
    position += writeSync(table, words, 0, words.byteLength, position);
  }
  closeSync(table);
}

if (import.meta.main) {
  const [directory, capacityBytes, blocks] = process.argv.slice(2);
  if (directory === undefined || blocks === undefined) {
    throw new Error('full-cache.bench.ts needs DIRECTORY CAPACITY_BYTES BLOCKS');
  }
  writeFullCache(directory, Number(capacityBytes), Number(blocks));
}
