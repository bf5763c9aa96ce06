/**
 * What `response-content-type` and its sisters in a query put into the head of one answer, in place of the object's own lines. They
 * count for whole objects and ranges, not for errors nor a 304, and never enter the cache.
 *
 * Only values that every header can hold are taken: printable ASCII without spaces around it. What to make of any other, to
 * refuse it or to encode it, is S3's to say: such requests pass through. So does a `+`, which not all read as a space.
 *
 * Memory: a request's, for as long as it is answered; a value has at most `maxValueBytes`.
 */
import type { QueryParameter } from '@s3-accelerator/core/s3/query.ts';
import { sameName } from '../http/header-slots.ts';
import type { ResponseWriter } from '../http/response-writer.ts';

export interface ResponseOverride {
  /** The header's name as it is written. */
  readonly header: string;
  readonly value: string;
}

export const noOverrides: readonly ResponseOverride[] = [];

/** Six of them and an object's own headers fit into the head of an answer. */
const maxValueBytes = 1024;
const headerValue = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

const headers: ReadonlyMap<string, string> = new Map([
  ['response-cache-control', 'Cache-Control'],
  ['response-content-disposition', 'Content-Disposition'],
  ['response-content-encoding', 'Content-Encoding'],
  ['response-content-language', 'Content-Language'],
  ['response-content-type', 'Content-Type'],
  ['response-expires', 'Expires'],
]);
const foldedNames: ReadonlyMap<string, Uint8Array> = new Map(
  [...headers.values()].map((header) => [header, Buffer.from(header.toLowerCase(), 'latin1')]),
);

/** Whether a parameter is an override that an answer out of the cache can carry. */
export function isOverride({ name, value, raw }: QueryParameter): boolean {
  return (
    headers.has(name) &&
    value.length <= maxValueBytes &&
    headerValue.test(value) &&
    !raw.includes('+')
  );
}

/** The overrides of a query that names each at most once. */
export function overridesOf(parameters: readonly QueryParameter[]): readonly ResponseOverride[] {
  const found = parameters.filter(isOverride);
  if (found.length === 0) return noOverrides;
  return found.map(({ name, value }) => ({ header: headers.get(name)!, value }));
}

const COLON = 0x3a;
const LF = 0x0a;

/** Writes an object's header lines, complete ones, and the overrides in place of those that they override. */
export function writeOverridden(
  writer: Pick<ResponseWriter, 'header' | 'lines'>,
  lines: Uint8Array,
  overrides: readonly ResponseOverride[],
): void {
  let kept = 0;
  for (let start = 0; start < lines.length;) {
    const end = lines.indexOf(LF, start) + 1;
    const nameEnd = lines.indexOf(COLON, start);
    if (overrides.some(({ header }) => sameName(lines, start, nameEnd, foldedNames.get(header)!))) {
      if (start > kept) writer.lines(lines.subarray(kept, start));
      kept = end;
    }
    start = end;
  }
  if (kept < lines.length) writer.lines(lines.subarray(kept));
  for (const { header, value } of overrides) writer.header(header, value);
}
