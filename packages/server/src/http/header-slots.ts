/**
 * The headers that the gateway itself looks at, each with a small number.
 *
 * The parser files a header under its slot while it scans the name, so that reading one later is an array access. The
 * table is open-addressed over a hash that the parser computes along the way; memory is fixed.
 */

/** Names in lower case, in any order; a name's position is its slot. */
const names = [
  'host',
  'authorization',
  'content-length',
  'transfer-encoding',
  'connection',
  'expect',
  'range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
  'x-amz-date',
  'x-amz-content-sha256',
  'x-amz-security-token',
  'x-amz-decoded-content-length',
  'x-amz-trailer',
  'x-amz-copy-source',
  'x-amz-checksum-mode',
  'x-amz-server-side-encryption-customer-algorithm',
  'x-amz-sdk-checksum-algorithm',
  'content-encoding',
  'content-md5',
  'content-type',
  'date',
] as const;

export type HeaderName = (typeof names)[number];

/** Slot of each header by name: `HeaderSlot.range`. */
export const HeaderSlot = Object.fromEntries(names.map((name, slot) => [name, slot])) as Readonly<
  Record<HeaderName, number>
>;

export const headerSlotCount = names.length;

/**
 * Headers that may come once only. Two of them make a request that two readers could read differently, so it is refused
 * before anyone has to choose.
 */
export const isSingleton = new Uint8Array(headerSlotCount).fill(1);
for (const listed of ['connection', 'if-match', 'if-none-match', 'content-encoding'] as const) {
  isSingleton[HeaderSlot[listed]] = 0;
}

/**
 * For each byte: the lower case of a character that a header name may have, 0 for all others. One look-up both checks
 * and folds.
 */
export const foldedNameByte = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") {
  foldedNameByte[character.charCodeAt(0)] = character.charCodeAt(0);
}
for (let code = 0x41; code <= 0x5a; code += 1) foldedNameByte[code] = code | 0x20;

/** One step of the hash over a name's folded bytes; begins at 0. */
export function nameHashStep(hash: number, foldedByte: number): number {
  return (Math.imul(hash, 31) + foldedByte) | 0;
}

/** The hash of a name in lower case in `bytes[start, end)`. */
export function nameHash(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at += 1) hash = nameHashStep(hash, bytes[at]!);
  return hash;
}

const tableMask = 127;
/** Slot + 1 at each place, 0 where empty. */
const table = new Uint8Array(tableMask + 1);
const nameBytes: readonly Uint8Array[] = names.map((name) => Buffer.from(name, 'latin1'));

names.forEach((_, slot) => {
  const bytes = nameBytes[slot]!;
  let place = nameHash(bytes, 0, bytes.length) & tableMask;
  while (table[place] !== 0) place = (place + 1) & tableMask;
  table[place] = slot + 1;
});

/** Whether `bytes[start, end)` is the lower-case name `name`, in any case. */
export function sameName(bytes: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  if (end - start !== name.length) return false;
  for (let at = 0; at < name.length; at += 1) {
    if (foldedNameByte[bytes[start + at]!] !== name[at]) return false;
  }
  return true;
}

/** The slot of the header name in `bytes[start, end)` with that hash, or -1. */
export function findSlot(bytes: Uint8Array, start: number, end: number, hash: number): number {
  let place = hash & tableMask;
  for (let found; (found = table[place]!) !== 0; place = (place + 1) & tableMask) {
    if (sameName(bytes, start, end, nameBytes[found - 1]!)) return found - 1;
  }
  return -1;
}
