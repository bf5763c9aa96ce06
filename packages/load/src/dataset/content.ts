/**
 * The bytes of every object, made and checked fast.
 *
 * Each 4 KiB page of an object is a window into one fixed pattern of random bytes; where it begins follows from the object's
 * identity and the page's number. So making a page is one copy and checking it one comparison, and a page of another
 * object or from another place shows with all but one chance in a million.
 *
 * Memory: the pattern, 1 MiB.
 */
import { mix32 } from '@s3-accelerator/core/base/hash.ts';
import { Prng } from '@s3-accelerator/core/base/prng.ts';

export const pageBytes = 4096;
const windows = 1 << 20;

function makePattern(): Buffer {
  const prng = new Prng(0x6c6f6164, 0x67656e);
  const pattern = Buffer.alloc(windows + pageBytes);
  for (let at = 0; at < pattern.length; at += 4) pattern.writeUInt32LE(prng.u32(), at);
  return pattern;
}

const pattern = makePattern();

function windowOf(identity: number, page: number): number {
  return mix32(identity ^ mix32(page + 0x9e3779b9)) & (windows - 1);
}

/** Writes the object's bytes from `offset` on to into[start, end). */
export function writeContent(
  identity: number,
  offset: number,
  into: Buffer,
  start: number,
  end: number,
): void {
  let at = start;
  while (at < end) {
    const position = offset + at - start;
    const inPage = position % pageBytes;
    const length = Math.min(pageBytes - inPage, end - at);
    const from = windowOf(identity, Math.floor(position / pageBytes)) + inPage;
    pattern.copy(into, at, from, from + length);
    at += length;
  }
}

/** Where in the object the first wrong byte of bytes[start, end) lies, which came from `offset` on; -1 without one. */
export function findDifference(
  identity: number,
  offset: number,
  bytes: Buffer,
  start: number,
  end: number,
): number {
  let at = start;
  while (at < end) {
    const position = offset + at - start;
    const inPage = position % pageBytes;
    const length = Math.min(pageBytes - inPage, end - at);
    const from = windowOf(identity, Math.floor(position / pageBytes)) + inPage;
    if (pattern.compare(bytes, at, at + length, from, from + length) !== 0) {
      let same = 0;
      while (pattern[from + same] === bytes[at + same]) same++;
      return position + same;
    }
    at += length;
  }
  return -1;
}
