/**
 * Reads what an origin's answer says about an object: version, size, position, and the headers worth keeping.
 *
 * Kept headers describe the object and are handed on byte for byte. Those that belong to one answer are dropped: lengths,
 * positions, connection headers, dates and request ids. Checksums are dropped from partial answers, where they may cover the
 * part only; those of the whole object come first, so that answers to clients that didn't ask for them can begin behind them.
 */
import type { FetchHead } from '@s3-accelerator/core/node/effects.ts';
import type { OriginError } from '@s3-accelerator/core/read.ts';
import { isStrongEtag } from '@s3-accelerator/core/s3/etag.ts';
import { parseHttpDate } from '@s3-accelerator/core/s3/http-date.ts';
import { headerValue } from '../http/raw-headers.ts';

/** Lower-case names of headers that belong to one answer, not to the object. */
const ofOneAnswer = new Set([
  'content-length',
  'content-range',
  'transfer-encoding',
  'trailer',
  'connection',
  'keep-alive',
  'proxy-connection',
  'upgrade',
  'date',
  'age',
  'via',
  'server',
  'set-cookie',
  'x-amz-request-id',
  'x-amz-id-2',
]);

const checksumPrefix = 'x-amz-checksum-';

/** The headers that may be kept, as `Name: value\r\n` lines. */
export function headerLines(headers: readonly string[], partial: boolean): Uint8Array {
  let checksums = '';
  let others = '';
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    if (ofOneAnswer.has(name)) continue;
    const line = `${headers[i]!}: ${headers[i + 1]!}\r\n`;
    if (!name.startsWith(checksumPrefix)) others += line;
    else if (!partial) checksums += line;
  }
  return Buffer.from(checksums + others, 'latin1');
}

/** Reads the head of a fetch's answer. `error` goes into errors' heads: status ≥ 400. */
export function readFetchHead(
  status: number,
  headers: readonly string[],
  headOnly: boolean,
  error: OriginError | null,
): FetchHead {
  const etag = headerValue(headers, 'etag');
  const contentLength = decimal(headerValue(headers, 'content-length'));
  const range = status === 206 ? contentRange(headerValue(headers, 'content-range')) : null;
  const head: FetchHead = {
    status,
    etag: isStrongEtag(etag) ? etag : '',
    size: -1,
    first: 0,
    length: 0,
    lastModified: parseHttpDate(headerValue(headers, 'last-modified')) ?? 0,
    headerLines: headerLines(headers, status === 206),
    error,
  };
  if (status === 200) {
    head.size = contentLength;
    if (!headOnly) head.length = contentLength;
  } else if (range !== null) {
    head.size = range.size;
    if (!headOnly) {
      head.first = range.first;
      head.length = range.last - range.first + 1;
    }
  } else if (status === 416) {
    head.size = unsatisfiedSize(headerValue(headers, 'content-range'));
  }
  return head;
}

interface ContentRange {
  readonly first: number;
  readonly last: number;
  /** -1 for `*`. */
  readonly size: number;
}

function contentRange(value: string): ContentRange | null {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(value);
  if (match === null) return null;
  const first = Number(match[1]);
  const last = Number(match[2]);
  const size = match[3] === '*' ? -1 : Number(match[3]);
  if (last < first || (size >= 0 && last >= size)) return null;
  return { first, last, size };
}

function unsatisfiedSize(value: string): number {
  const match = /^bytes \*\/(\d{1,15})$/.exec(value);
  return match === null ? -1 : Number(match[1]);
}

/** A length in bytes, -1 when it is missing or nonsense. Beyond 15 digits numbers aren't exact. */
function decimal(value: string): number {
  return /^\d{1,15}$/.test(value) ? Number(value) : -1;
}
