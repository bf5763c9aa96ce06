/**
 * What an answer has to be. Each function gives what is wrong in words, '' when nothing is.
 *
 * An answer is judged as it arrives: its head, each piece of its body, its end.
 */
import type { Dataset } from '../dataset/dataset.ts';
import { findDifference, pageBytes } from '../dataset/content.ts';
import type { StepPlan } from '../plan/plan.ts';
import type { Exchange } from './exchange.ts';

export function expectedStatus({ operation, bytes, size }: Exchange): number {
  return operation === 'get' && bytes < size ? 206 : 200;
}

/** The length that a head promises, -1 when it promises none. */
export function lengthFault({ operation, bytes, size }: Exchange, promised: number): string {
  if (operation === 'put' || operation === 'list') return '';
  const expected = operation === 'head' ? size : bytes;
  if (promised === expected || (promised < 0 && operation === 'get')) return '';
  return `a length of ${promised} instead of ${expected}`;
}

/** A piece of a GET's body, which begins `at` bytes behind the body's beginning. */
export function pieceFault(
  { identity, first, bytes }: Exchange,
  verify: StepPlan['verify'],
  at: number,
  piece: Buffer,
  start: number,
  end: number,
): string {
  const to = at + end - start;
  if (to > bytes) return `more than the ${bytes} bytes that were asked for`;
  if (verify === 'none') return '';
  if (verify === 'all') return differenceIn(identity, first + at, piece, start, end);
  const headBytes = Math.min(pageBytes, to) - at;
  if (headBytes > 0) {
    const fault = differenceIn(identity, first + at, piece, start, start + headBytes);
    if (fault !== '') return fault;
  }
  const tailAt = Math.max(at, bytes - pageBytes);
  return tailAt >= to
    ? ''
    : differenceIn(identity, first + tailAt, piece, start + tailAt - at, end);
}

function differenceIn(
  identity: number,
  offset: number,
  piece: Buffer,
  start: number,
  end: number,
): string {
  const found = findDifference(identity, offset, piece, start, end);
  return found < 0 ? '' : `byte ${found} of the object is wrong`;
}

/** A listing's document: it has to go on with the key behind the one that it starts after. */
export function listingFault({ object }: Exchange, dataset: Dataset, document: string): string {
  if (!document.trimEnd().endsWith('</ListBucketResult>')) return 'no whole ListBucketResult';
  const found = /<Key>([^<]*)<\/Key>/.exec(document)?.[1] ?? '';
  const expected = object + 1 < dataset.objects ? dataset.key(object + 1) : '';
  if (found === expected) return '';
  return `a listing that begins with "${found}" instead of "${expected}"`;
}
