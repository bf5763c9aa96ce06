/**
 * The log that a home's metadata survives in: a header, then one entry for each thing learned or forgotten, in order.
 *
 * Nothing waits for it and nothing is promised of it: what it brings back counts as unconfirmed, so the worst that a lost
 * entry costs is a request to S3. An entry that was torn or flipped ends the reading, and what lies behind it is gone: the
 * driver cuts the file there. The log names its cache, so one that was left by another is not read.
 *
 *   header  magic 16 bytes, format, cache id 16, 24 zero, check              64 bytes
 *   entry   length of all of it, check, kind (1 put, 2 forgotten), object hash 16
 *           put: version 16, size low, high, last modified low, high, 1 if it knows checksums,
 *                bytes of the ETag, bytes of the header lines, ETag, header lines; padded to 4 bytes
 *
 * All words are little-endian u32. What is read back is checked for sense as well as for its check, as any file is.
 */
import { assert } from '../base/assert.ts';
import { mix32, type Hash128 } from '../base/hash.ts';
import type { ObjectMetadata } from '../read.ts';
import { hashAt, mixWords, TWO_32, wordsOf, writeHash } from './words.ts';

/** Bytes of the log's header. */
export const LOG_HEADER_BYTES = 64;
/** The longest entry that is read or written: S3 bounds an object's headers far below. */
export const MAX_LOG_ENTRY_BYTES = 256 * 1024;
const LOG_FORMAT = 1;

const ENTRY_BYTES = 28;
const PUT_BYTES = ENTRY_BYTES + 44;
const PUT = 1;
const FORGOTTEN = 2;
const HEADER_WORDS = LOG_HEADER_BYTES / 4;
const magic = 's3accel-meta\n\0\0\0';

/** What a log says, entry by entry. */
export interface LogReader {
  put(hash: Hash128, metadata: ObjectMetadata): void;
  forgotten(hash: Hash128): void;
}

/**
 * What a log is to know: shows about `limit` objects from `from` on (0 to begin), and returns where to go on, 0 when that was
 * all. Hashes are reused.
 */
export type MetadataFrom = (
  from: number,
  limit: number,
  each: (hash: Hash128, metadata: ObjectMetadata) => void,
) => number;

/** How far a log was read. */
export interface LogEnd {
  /** Bytes from the beginning that are good; the file is cut here before more is appended. 0: begin a new log. */
  readonly goodBytes: number;
  readonly entries: number;
  /** whole: all of it. torn: an entry was cut off or damaged. foreign: no log of this cache and format. */
  readonly end: 'whole' | 'torn' | 'foreign';
}

/** The first bytes of a cache's log. */
export function encodeLogHeader(cacheId: Readonly<Hash128>): Uint8Array {
  const bytes = new Uint8Array(LOG_HEADER_BYTES);
  const words = wordsOf(bytes);
  for (let i = 0; i < magic.length; i++) bytes[i] = magic.charCodeAt(i);
  words[4] = LOG_FORMAT;
  writeHash(words, 5, cacheId);
  words[HEADER_WORDS - 1] = checkOf(words, 0, HEADER_WORDS - 1);
  return bytes;
}

/** Bytes that the entry of an object's metadata takes; past MAX_LOG_ENTRY_BYTES it isn't logged. */
export function putBytes({ etag, headerLines }: ObjectMetadata): number {
  return (PUT_BYTES + etag.length + headerLines.length + 3) & ~3;
}

/** Bytes that an entry takes which says that an object was forgotten. */
export const FORGOTTEN_BYTES = ENTRY_BYTES;

/** Writes an entry of `putBytes(metadata)` bytes at `at`, a multiple of four; returns where it ends. */
export function encodePut(
  bytes: Uint8Array,
  at: number,
  hash: Readonly<Hash128>,
  metadata: ObjectMetadata,
): number {
  const length = putBytes(metadata);
  assert(length <= MAX_LOG_ENTRY_BYTES, 'metadata log: an entry is too long');
  const { version, size, lastModified, etag, headerLines, knowsChecksums } = metadata;
  const words = wordsOf(bytes);
  const word = at / 4;
  beginEntry(words, word, length, PUT, hash);
  writeHash(words, word + 7, version);
  words[word + 11] = size % TWO_32;
  words[word + 12] = Math.floor(size / TWO_32);
  words[word + 13] = lastModified % TWO_32;
  words[word + 14] = Math.floor(lastModified / TWO_32);
  words[word + 15] = knowsChecksums ? 1 : 0;
  words[word + 16] = etag.length;
  words[word + 17] = headerLines.length;
  let to = at + PUT_BYTES;
  for (let i = 0; i < etag.length; i++) bytes[to++] = etag.charCodeAt(i);
  bytes.set(headerLines, to);
  bytes.fill(0, to + headerLines.length, at + length);
  words[word + 1] = checkOf(words, word + 2, word + length / 4);
  return at + length;
}

/** Writes an entry of FORGOTTEN_BYTES bytes at `at`, a multiple of four; returns where it ends. */
export function encodeForgotten(bytes: Uint8Array, at: number, hash: Readonly<Hash128>): number {
  const words = wordsOf(bytes);
  const word = at / 4;
  beginEntry(words, word, FORGOTTEN_BYTES, FORGOTTEN, hash);
  words[word + 1] = checkOf(words, word + 2, word + FORGOTTEN_BYTES / 4);
  return at + FORGOTTEN_BYTES;
}

/** The entry of an object's metadata. */
export function putEntry(hash: Readonly<Hash128>, metadata: ObjectMetadata): Uint8Array {
  const bytes = new Uint8Array(putBytes(metadata));
  encodePut(bytes, 0, hash, metadata);
  return bytes;
}

/** The entry that says that an object was forgotten. */
export function forgottenEntry(hash: Readonly<Hash128>): Uint8Array {
  const bytes = new Uint8Array(FORGOTTEN_BYTES);
  encodeForgotten(bytes, 0, hash);
  return bytes;
}

/**
 * A new log of all that is known, in pieces: its header first, then the entries of about `objectsAtATime` objects each, which are
 * asked for as their piece is.
 */
export function* newLog(
  cacheId: Readonly<Hash128>,
  metadataFrom: MetadataFrom,
  objectsAtATime: number,
): Generator<Uint8Array> {
  yield encodeLogHeader(cacheId);
  let from = 0;
  do {
    const entries: Uint8Array[] = [];
    from = metadataFrom(from, objectsAtATime, (hash, metadata) => {
      entries.push(putEntry(hash, metadata));
    });
    yield joined(entries);
  } while (from !== 0);
}

/** Pieces of a log as one. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** Whether `bytes` begin with the header of this cache's log. */
export function isLogOf(bytes: Uint8Array, cacheId: Readonly<Hash128>): boolean {
  const expected = encodeLogHeader(cacheId);
  return expected.every((byte, i) => bytes[i] === byte);
}

/**
 * Reads entries from `start` on, a multiple of four; returns how many bytes of whole entries there were. `isTorn` when what follows
 * them is damaged, rather than merely not there yet: a caller that reads in pieces goes on with the rest of its piece.
 */
export function readEntries(
  bytes: Uint8Array,
  start: number,
  reader: LogReader,
): { readonly end: number; readonly entries: number; readonly isTorn: boolean } {
  const words = wordsOf(bytes);
  let at = start;
  let entries = 0;
  while (at + ENTRY_BYTES <= bytes.length) {
    const word = at / 4;
    const length = words[word]! >>> 0;
    const isSensible = length % 4 === 0 && length >= ENTRY_BYTES && length <= MAX_LOG_ENTRY_BYTES;
    if (!isSensible) return { end: at, entries, isTorn: true };
    if (at + length > bytes.length) break;
    const isGood =
      words[word + 1] === checkOf(words, word + 2, word + length / 4) &&
      readEntry(bytes, words, word, length, reader);
    if (!isGood) return { end: at, entries, isTorn: true };
    at += length;
    entries += 1;
  }
  return { end: at, entries, isTorn: false };
}

/** Reads a whole log that is in memory. */
export function readLog(bytes: Uint8Array, cacheId: Readonly<Hash128>, reader: LogReader): LogEnd {
  if (!isLogOf(bytes, cacheId)) return { goodBytes: 0, entries: 0, end: 'foreign' };
  const { end, entries } = readEntries(bytes, LOG_HEADER_BYTES, reader);
  return { goodBytes: end, entries, end: end === bytes.length ? 'whole' : 'torn' };
}

/** Tells the reader one entry whose check fits; false when it makes no sense. */
function readEntry(
  bytes: Uint8Array,
  words: Int32Array,
  word: number,
  length: number,
  reader: LogReader,
): boolean {
  const kind = words[word + 2]!;
  const hash = hashAt(words, word + 3);
  if (kind === FORGOTTEN) {
    reader.forgotten(hash);
    return length === FORGOTTEN_BYTES;
  }
  if (kind !== PUT || length < PUT_BYTES) return false;
  const unsigned = (at: number): number => words[word + at]! >>> 0;
  const etagBytes = unsigned(16);
  const headerBytes = unsigned(17);
  if (((PUT_BYTES + etagBytes + headerBytes + 3) & ~3) !== length) return false;
  const etagAt = word * 4 + PUT_BYTES;
  const headersAt = etagAt + etagBytes;
  let etag = '';
  for (let at = etagAt; at < headersAt; at++) etag += String.fromCharCode(bytes[at]!);
  reader.put(hash, {
    etag,
    size: unsigned(11) + unsigned(12) * TWO_32,
    lastModified: unsigned(13) + unsigned(14) * TWO_32,
    headerLines: bytes.slice(headersAt, headersAt + headerBytes),
    knowsChecksums: words[word + 15] === 1,
    version: hashAt(words, word + 7),
  });
  return true;
}

function beginEntry(
  words: Int32Array,
  word: number,
  length: number,
  kind: number,
  hash: Readonly<Hash128>,
): void {
  words[word] = length;
  words[word + 2] = kind;
  writeHash(words, word + 3, hash);
}

/** Of words [start, end). */
function checkOf(words: Int32Array, start: number, end: number): number {
  return mix32(mixWords(0x3c6ef372, words, start, end) ^ (end - start));
}
