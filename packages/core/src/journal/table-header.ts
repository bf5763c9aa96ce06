/**
 * The headers of the two files that hold blocks: the first 4096 bytes of the slot table, and of the slab.
 *
 * They say which cache the files belong to, how its space is cut, and which lives of the process (runs) ended clean. A run
 * counts up with each start. Rows of runs that ended clean are trusted; those of all others have their block's bytes
 * verified before they are served. The header keeps the ends of the last 64 runs; rows older than that aren't trusted.
 *
 * The table's header stands twice, each in a sector of its own; writing takes turns, so a torn write leaves the other one.
 * The slab repeats cache id and run: a slab from another cache, or one that wasn't there when the table's last run began,
 * is noticed.
 *
 *   0–3  magic         4  format      5  sequence       6–9  cache id
 *   10   block bytes  11  extent bytes   12, 13  bytes of the slab, low and high
 *   14   run          15, 16  which runs ended clean: bit i for run − i
 *   17, 18  number of the slab's file, low and high    19–30  zero    31  check
 */
import { mix32, type Hash128 } from '../base/hash.ts';
import type { BlockPlace } from '../store/block-place.ts';
import { RECORD_BYTES } from './slot-record.ts';
import { hashAt, TWO_32, wordsOf, writeHash } from './words.ts';

/** Bytes before the first row of the table, and before the first slot of the slab. */
export const HEADER_BYTES = 4096;
/** Bytes of one copy of a header. */
export const HEADER_COPY_BYTES = 128;
/** What the files look like; a change of any format in journal/ raises it. */
const TABLE_FORMAT = 1;
/** Runs whose end is remembered, the present one included. */
export const REMEMBERED_RUNS = 64;

const WORDS = HEADER_COPY_BYTES / 4;
const CHECK = WORDS - 1;
const COPIES = 2;
/** How far the copies stand apart: more than a sector, so that one write can't tear both. */
const COPY_DISTANCE = HEADER_BYTES / COPIES;

const tableMagic = magicOf('s3accel-table\n\0\0');
const slabMagic = magicOf('s3accel-slab\n\0\0\0');

/** Immutable. */
export interface TableHeader {
  /** Names this write of the header: the copy with the larger one counts. */
  readonly sequence: number;
  /** Random bits of the cache; a data directory gets new ones when it starts empty. */
  readonly cacheId: Readonly<Hash128>;
  readonly blockBytes: number;
  readonly extentBytes: number;
  readonly slabBytes: number;
  readonly run: number;
  /** Bit i tells whether run − i ended clean; runs 0 to 31 back, and 32 to 63 back. */
  readonly cleanRunsLow: number;
  readonly cleanRunsHigh: number;
  /** The number that the file system gave the slab's file (its inode): a copy of the slab has another. */
  readonly slabFile: number;
}

/** How a cache is cut; what the header keeps of the store's shape. */
export interface TableShape {
  readonly blockBytes: number;
  readonly extentBytes: number;
  readonly slabBytes: number;
}

/** What was found where a header should be. */
export type FoundHeader =
  | { readonly kind: 'header'; readonly header: TableHeader }
  /** Nothing was ever written there. */
  | { readonly kind: 'none' }
  /** Ours, in a format that this program doesn't know. */
  | { readonly kind: 'format'; readonly format: number }
  | { readonly kind: 'damaged' };

/** Where the row of a slot begins in the table, in bytes. */
export function rowPosition(slot: number): number {
  return HEADER_BYTES + slot * RECORD_BYTES;
}

/** Where the place that a row speaks of begins in the slab, in bytes. */
export function placePosition(at: Readonly<BlockPlace>, extentBytes: number): number {
  return HEADER_BYTES + at.extent * extentBytes + at.place * at.slotBytes;
}

/** The first header of a cache that starts empty. */
export function firstHeader(cacheId: Readonly<Hash128>, shape: TableShape): TableHeader {
  const { blockBytes, extentBytes, slabBytes } = shape;
  return {
    sequence: 1,
    cacheId,
    blockBytes,
    extentBytes,
    slabBytes,
    run: 1,
    cleanRunsLow: 0,
    cleanRunsHigh: 0,
    slabFile: 0,
  };
}

/**
 * The header for a new run on the files of `last`. Unless it `isTrusting`, no earlier run counts as ended clean any more, in this
 * run or a later one.
 */
export function nextRun(
  last: TableHeader,
  { slabBytes }: TableShape,
  isTrusting: boolean,
): TableHeader {
  const { cleanRunsLow: low, cleanRunsHigh: high } = last;
  return {
    ...last,
    sequence: last.sequence + 1,
    slabBytes,
    run: last.run + 1,
    cleanRunsLow: isTrusting ? (low << 1) >>> 0 : 0,
    cleanRunsHigh: isTrusting ? ((high << 1) | (low >>> 31)) >>> 0 : 0,
  };
}

/** The header that says that this run ended clean: written last, when all else is durable. */
export function cleanEnd(header: TableHeader): TableHeader {
  const { sequence, cleanRunsLow } = header;
  return { ...header, sequence: sequence + 1, cleanRunsLow: (cleanRunsLow | 1) >>> 0 };
}

/** Whether a run ended clean, as far as the header remembers. */
export function endedClean(header: TableHeader, run: number): boolean {
  const age = header.run - run;
  if (age < 0 || age >= REMEMBERED_RUNS) return false;
  const bits = age < 32 ? header.cleanRunsLow : header.cleanRunsHigh;
  return ((bits >>> (age & 31)) & 1) === 1;
}

/** Where this header goes in the table, in bytes: the copy that the one before it isn't in. */
export function headerPosition({ sequence }: TableHeader): number {
  return (sequence % COPIES) * COPY_DISTANCE;
}

/** One copy of the table's header. */
export function encodeTableHeader(header: TableHeader): Uint8Array {
  return encode(header, tableMagic);
}

/** The slab's header: it stands once, at the beginning, and is padded to HEADER_BYTES. */
export function encodeSlabHeader(header: TableHeader): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  bytes.set(encode(header, slabMagic));
  return bytes;
}

/** The newer of the two copies in the first HEADER_BYTES of a table; fewer bytes are read as far as they go. */
export function decodeTableHeader(bytes: Uint8Array): FoundHeader {
  const first = decode(bytes, 0, tableMagic);
  const second = decode(bytes, COPY_DISTANCE, tableMagic);
  if (first.kind !== 'header') return second.kind === 'none' ? first : second;
  if (second.kind !== 'header') return first;
  return first.header.sequence > second.header.sequence ? first : second;
}

/** The header at the beginning of a slab. */
export function decodeSlabHeader(bytes: Uint8Array): FoundHeader {
  return decode(bytes, 0, slabMagic);
}

function encode(header: TableHeader, magic: Int32Array): Uint8Array {
  const bytes = new Uint8Array(HEADER_COPY_BYTES);
  const words = wordsOf(bytes);
  const { cacheId, slabBytes } = header;
  words.set(magic);
  words[4] = TABLE_FORMAT;
  words[5] = header.sequence;
  writeHash(words, 6, cacheId);
  words[10] = header.blockBytes;
  words[11] = header.extentBytes;
  words[12] = slabBytes % TWO_32;
  words[13] = Math.floor(slabBytes / TWO_32);
  words[14] = header.run;
  words[15] = header.cleanRunsLow;
  words[16] = header.cleanRunsHigh;
  words[17] = header.slabFile % TWO_32;
  words[18] = Math.floor(header.slabFile / TWO_32);
  words[CHECK] = checkOf(words);
  return bytes;
}

function decode(bytes: Uint8Array, start: number, magic: Int32Array): FoundHeader {
  const copy = new Uint8Array(HEADER_COPY_BYTES);
  copy.set(bytes.subarray(start, start + HEADER_COPY_BYTES));
  const words = wordsOf(copy);
  if (words.every((word) => word === 0)) return { kind: 'none' };
  if (magic.some((word, i) => words[i] !== word)) return { kind: 'damaged' };
  // Later formats keep magic and format where they are, whatever else they change.
  if (words[4] !== TABLE_FORMAT) return { kind: 'format', format: words[4]! >>> 0 };
  if (words[CHECK] !== checkOf(words)) return { kind: 'damaged' };
  const unsigned = (at: number): number => words[at]! >>> 0;
  return {
    kind: 'header',
    header: {
      sequence: unsigned(5),
      cacheId: hashAt(words, 6),
      blockBytes: unsigned(10),
      extentBytes: unsigned(11),
      slabBytes: unsigned(12) + unsigned(13) * TWO_32,
      run: unsigned(14),
      cleanRunsLow: unsigned(15),
      cleanRunsHigh: unsigned(16),
      slabFile: unsigned(17) + unsigned(18) * TWO_32,
    },
  };
}

function checkOf(words: Int32Array): number {
  let check = 0x2545f491;
  for (let i = 0; i < CHECK; i++) check = mix32(check ^ words[i]!) + Math.imul(i, 0x9e3779b1);
  return mix32(check);
}

function magicOf(text: string): Int32Array {
  return wordsOf(Uint8Array.from(text, (character) => character.charCodeAt(0)));
}
