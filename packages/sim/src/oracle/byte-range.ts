/** S3's reading of a Range header: one range or none, and whatever is odd is ignored. */

export type RangeAnswer =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly first: number; readonly length: number }
  | { readonly kind: 'unsatisfiable' };

const whole: RangeAnswer = { kind: 'whole' };
const unsatisfiable: RangeAnswer = { kind: 'unsatisfiable' };
const pattern = /^bytes=([0-9]*)-([0-9]*)$/;

/** What the header means for an object of `size` bytes; null for no header. */
export function rangeAnswer(header: string | null, size: number): RangeAnswer {
  const match = header === null ? null : pattern.exec(header);
  if (match === null) return whole;
  const [, start = '', end = ''] = match;
  if (start === '' && end === '') return whole;
  if (start === '') {
    const wanted = Number(end);
    if (wanted === 0) return unsatisfiable;
    if (size === 0) return whole;
    const length = Math.min(wanted, size);
    return { kind: 'part', first: size - length, length };
  }
  const first = Number(start);
  if (end !== '' && Number(end) < first) return whole;
  if (first >= size) return unsatisfiable;
  const last = end === '' ? size - 1 : Math.min(Number(end), size - 1);
  return { kind: 'part', first, length: last - first + 1 };
}
