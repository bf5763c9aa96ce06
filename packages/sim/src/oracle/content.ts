/**
 * What objects hold: bytes that follow from a content number and a position, four at a time.
 *
 * No content is stored anywhere. A word at the same position differs between any two contents, and within one content
 * between any two positions less than 16 GiB apart, so a byte range of another version, or one that is shifted, never
 * looks right. Words lie in the byte order of the machines that Node runs on (little-endian).
 */

/** Bytes of one word. */
const wordBytes = 4;

/** Spreads a content number, so that contents with neighbouring numbers have nothing in common. */
function keyOf(content: number): number {
  let key = Math.imul(content ^ (content >>> 16), 0x7feb352d);
  key = Math.imul(key ^ (key >>> 15), 0x846ca68b);
  return key ^ (key >>> 16);
}

/** Each step can be undone, so words of one content never repeat. */
function wordAt(key: number, index: number): number {
  let word = Math.imul(index ^ key, 0x9e3779b1);
  word = Math.imul(word ^ (word >>> 15), 0x85ebca77);
  return word ^ (word >>> 13);
}

/** The byte at a place of a word. */
function byteOf(word: number, place: number): number {
  return (word >>> (place * 8)) & 0xff;
}

function isAligned(first: number, bytes: Uint8Array): boolean {
  return first % wordBytes === 0 && bytes.byteOffset % wordBytes === 0;
}

function wordsOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / wordBytes));
}

/** Fills `into` with the content's bytes from position `first` on. */
export function fillContent(content: number, first: number, into: Uint8Array): void {
  const key = keyOf(content);
  let index = Math.floor(first / wordBytes);
  let at = 0;
  if (isAligned(first, into)) {
    const words = wordsOf(into);
    for (let i = 0; i < words.length; i += 1) words[i] = wordAt(key, (index + i) | 0);
    at = words.length * wordBytes;
    index += words.length;
  }
  for (let place = first % wordBytes; at < into.length; place = 0, index += 1) {
    const word = wordAt(key, index | 0);
    for (; place < wordBytes && at < into.length; place += 1) into[at++] = byteOf(word, place);
  }
}

/** Index of the first of `bytes` that isn't the content's byte from position `first` on; -1 when all are. */
export function firstDifference(content: number, first: number, bytes: Uint8Array): number {
  const key = keyOf(content);
  let index = Math.floor(first / wordBytes);
  let at = 0;
  if (isAligned(first, bytes)) {
    const words = wordsOf(bytes);
    let same = 0;
    while (same < words.length && words[same] === wordAt(key, (index + same) | 0)) same += 1;
    at = same * wordBytes;
    index += same;
  }
  for (let place = first % wordBytes; at < bytes.length; place = 0, index += 1) {
    const word = wordAt(key, index | 0);
    for (; place < wordBytes && at < bytes.length; place += 1, at += 1) {
      if (bytes[at] !== byteOf(word, place)) return at;
    }
  }
  return -1;
}
