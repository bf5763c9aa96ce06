// S3's reading of the Range header: one range or none, anything odd is ignored.

/** Half-open. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * 'whole' where the header is absent or S3 ignores it (several ranges, first after last, other units),
 * 'unsatisfiable' where it answers 416.
 */
export function resolveRange(
  header: string | undefined,
  size: number,
): ByteRange | 'whole' | 'unsatisfiable' {
  const parsed = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  if (parsed === null) return 'whole';
  const [, first = '', last = ''] = parsed;
  if (first === '') {
    if (last === '') return 'whole';
    const length = Math.min(Number(last), size);
    if (Number(last) === 0) return 'unsatisfiable';
    return size === 0 ? 'whole' : { start: size - length, end: size };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'whole';
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) };
}
