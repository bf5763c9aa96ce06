/**
 * The `Range` header: what it asks for, and what that means for an object of a known size.
 *
 * Both steps write into records that the caller reuses, since every ranged hit runs them. S3 serves one range; a
 * header it can't read, a range that runs backwards and a list of ranges are ignored, which means the whole object.
 */

export type RangeKind =
  /** No header, or one that is ignored. */
  | 'none'
  /** `bytes=first-last`, both inclusive. */
  | 'bounded'
  /** `bytes=first-`. */
  | 'from'
  /** `bytes=-count`: that many bytes from the end. */
  | 'suffix';

export interface RangeRequest {
  kind: RangeKind;
  /** bounded, from: the first byte. suffix: how many bytes from the end. */
  first: number;
  /** bounded: the last byte. */
  last: number;
}

export function newRangeRequest(): RangeRequest {
  return { kind: 'none', first: 0, last: 0 };
}

const unit = [0x62, 0x79, 0x74, 0x65, 0x73, 0x3d]; // bytes=
const dash = 0x2d;

/** Larger numbers are read as this one, exactness ends there: no object is as long. */
const largest = Number.MAX_SAFE_INTEGER;

function digitAt(bytes: Uint8Array, at: number, end: number): number {
  if (at >= end) return -1;
  const digit = bytes[at]! - 0x30;
  return digit >= 0 && digit <= 9 ? digit : -1;
}

/** Reads the header value in `bytes[start, end)` into `into`; `none` when S3 would ignore it. */
export function parseRange(
  bytes: Uint8Array,
  start: number,
  end: number,
  into: RangeRequest,
): void {
  into.kind = 'none';
  into.first = 0;
  into.last = 0;
  let at = start;
  for (const expected of unit) {
    if (at >= end || bytes[at] !== expected) return;
    at += 1;
  }
  let first = 0;
  const firstStart = at;
  for (let digit; (digit = digitAt(bytes, at, end)) >= 0; at += 1) {
    first = Math.min(first * 10 + digit, largest);
  }
  const hasFirst = at > firstStart;
  if (at >= end || bytes[at] !== dash) return;
  at += 1;
  let last = 0;
  const lastStart = at;
  for (let digit; (digit = digitAt(bytes, at, end)) >= 0; at += 1) {
    last = Math.min(last * 10 + digit, largest);
  }
  const hasLast = at > lastStart;
  if (at !== end) return;
  if (hasFirst && hasLast) {
    if (first > last) return;
    into.kind = 'bounded';
    into.first = first;
    into.last = last;
  } else if (hasFirst) {
    into.kind = 'from';
    into.first = first;
  } else if (hasLast) {
    into.kind = 'suffix';
    into.first = last;
  }
}

export interface ResolvedRange {
  /** `whole` is a 200, `part` a 206, `unsatisfiable` a 416. */
  kind: 'whole' | 'part' | 'unsatisfiable';
  /** First and last byte, inclusive; of a whole object too, where `last` is -1 if it is empty. */
  first: number;
  last: number;
}

export function newResolvedRange(): ResolvedRange {
  return { kind: 'whole', first: 0, last: -1 };
}

/** What `range` means for an object of `size` bytes. */
export function resolveRange(range: RangeRequest, size: number, into: ResolvedRange): void {
  into.kind = 'whole';
  into.first = 0;
  into.last = size - 1;
  switch (range.kind) {
    case 'none':
      return;
    case 'suffix':
      if (range.first === 0) {
        into.kind = 'unsatisfiable';
      } else if (size > 0) {
        into.kind = 'part';
        into.first = Math.max(0, size - range.first);
      }
      return;
    case 'from':
    case 'bounded':
      if (range.first >= size) {
        into.kind = 'unsatisfiable';
        return;
      }
      into.kind = 'part';
      into.first = range.first;
      if (range.kind === 'bounded') into.last = Math.min(range.last, size - 1);
  }
}
