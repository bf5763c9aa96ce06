/**
 * Whether an answer is one that the origin could have given, byte for byte. Knows nothing of caches: only versions and S3's rules for
 * ranges.
 */
import type { Answer } from 's3-accelerator/testing/raw-connection.ts';
import { describe } from '../origin/contents.ts';
import type { ObjectHistory, Version } from '../origin/history.ts';

/** What a read asks for. Positions are inclusive; a suffix is that many last bytes. */
export type Wanted =
  | { readonly kind: 'whole' | 'head' }
  | { readonly kind: 'range'; readonly first: number; readonly last: number }
  | { readonly kind: 'suffix'; readonly length: number };

/**
 * right: as it must be. short: nothing wrong in it, but not everything either (an error of the server, or cut off). wrong: bytes or
 * headers that no possible version has.
 */
export type Verdict =
  { readonly kind: 'right' } | { readonly kind: 'short' | 'wrong'; readonly why: string };

const right: Verdict = { kind: 'right' };
const wrong = (why: string): Verdict => ({ kind: 'wrong', why });

interface Expected {
  readonly status: 200 | 206 | 416;
  /** Half-open. */
  readonly start: number;
  readonly end: number;
}

/** S3's answer to this, from an object of `size` bytes, at least one. */
function expected(wanted: Wanted, size: number): Expected {
  switch (wanted.kind) {
    case 'whole':
    case 'head':
      return { status: 200, start: 0, end: size };
    case 'range':
      if (wanted.first >= size) return { status: 416, start: 0, end: 0 };
      return { status: 206, start: wanted.first, end: Math.min(wanted.last + 1, size) };
    case 'suffix':
      return { status: 206, start: Math.max(0, size - wanted.length), end: size };
  }
}

/** Judges an answer against the versions that were possible while it was read. */
export function judge(
  object: ObjectHistory,
  possible: readonly Version[],
  wanted: Wanted,
  answer: Answer,
): Verdict {
  const { status } = answer;
  if (status >= 500) return { kind: 'short', why: `answered ${status}` };
  if (status === 416) {
    const may = possible.some(({ size }) => expected(wanted, size).status === 416);
    return may ? right : wrong('416 for a range that every possible version has');
  }
  if (status !== 200 && status !== 206) return wrong(`answered ${status}`);
  const etag = answer.header('etag').replaceAll('"', '');
  const version = possible.find((one) => one.etag === etag);
  if (version === undefined) {
    const known = possible.map(({ number }) => number).join(', ');
    return wrong(`ETag ${etag} is of none of the possible versions (${known})`);
  }
  return judgeVersion(object, version, wanted, answer);
}

function judgeVersion(
  object: ObjectHistory,
  version: Version,
  wanted: Wanted,
  { status, header, body, isCut }: Answer,
): Verdict {
  const { status: due, start, end } = expected(wanted, version.size);
  const name = `version ${version.number} of ${version.size} bytes`;
  if (status !== due) return wrong(`answered ${status} where ${due} was due (${name})`);
  if (Number(header('content-length')) !== end - start) {
    return wrong(`promises ${header('content-length')} bytes of ${end - start} (${name})`);
  }
  const range = `bytes ${start}-${end - 1}/${version.size}`;
  if (status === 206 && header('content-range') !== range) {
    return wrong(`says ${header('content-range')} where ${range} was due (${name})`);
  }
  if (wanted.kind === 'head') return right;
  const bytes = object.contentOf(version).subarray(start, start + body.length);
  if (!body.equals(bytes)) {
    const at = body.findIndex((byte, index) => byte !== bytes[index]);
    return wrong(`byte ${start + at} of ${name}: ${describe(body, at, start)}`);
  }
  if (isCut) return { kind: 'short', why: `cut after ${body.length} of ${end - start} bytes` };
  if (body.length !== end - start) return wrong(`${body.length} bytes of ${end - start} (${name})`);
  return right;
}
