/**
 * Options of a run as text: what differs from the options that a seed draws.
 *
 * A smaller run that still fails is told and taken in this form. JSON has no Infinity: "never" stands for it.
 */
import type { RunOptions } from '../options.ts';
import { ArgumentError } from './arguments.ts';
import { whyNotInLimit } from './option-limits.ts';

type Tree = Readonly<Record<string, unknown>>;

const NEVER = 'never';

/** What `changed` has otherwise than `original`, as JSON; '{}' when nothing. */
export function differenceOf(original: RunOptions, changed: RunOptions): string {
  const difference = treeDifference(asTree(original), asTree(changed));
  return JSON.stringify(difference, (_, value: unknown) => (value === Infinity ? NEVER : value));
}

/** `original` with what the text says otherwise. Throws an ArgumentError for text that doesn't fit. */
export function withDifference(original: RunOptions, text: string): RunOptions {
  let difference: unknown;
  try {
    difference = JSON.parse(text);
  } catch (error) {
    throw new ArgumentError(`--options is no JSON: ${(error as Error).message}`);
  }
  if (!isTree(difference) || 'seed' in difference) {
    throw new ArgumentError('--options is an object of options, without the seed');
  }
  const options = applied(asTree(original), difference, '') as unknown as RunOptions;
  const { sizes, storeBytes } = options.cluster;
  const { blockBytes, chunkBytes } = sizes;
  if (storeBytes < blockBytes) {
    throw new ArgumentError(`a store of ${storeBytes} bytes has no room for a block`);
  }
  if (chunkBytes % blockBytes !== 0) {
    throw new ArgumentError(`a chunk of ${chunkBytes} bytes is no whole blocks of ${blockBytes}`);
  }
  return options;
}

function treeDifference(original: Tree, changed: Tree): Tree {
  const difference: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(changed)) {
    const before = original[name];
    if (isTree(value) && isTree(before)) {
      const inner = treeDifference(before, value);
      if (Object.keys(inner).length > 0) difference[name] = inner;
    } else if (!isSame(before, value)) {
      difference[name] = value;
    }
  }
  return difference;
}

function applied(original: Tree, difference: Tree, path: string): Tree {
  const result: Record<string, unknown> = { ...original };
  for (const [name, value] of Object.entries(difference)) {
    const before = original[name];
    const place = path === '' ? name : `${path}.${name}`;
    if (!Object.hasOwn(original, name)) throw new ArgumentError(`no option is called ${place}`);
    result[name] = appliedValue(before, value, place);
  }
  return result;
}

function appliedValue(before: unknown, value: unknown, place: string): unknown {
  if (isTree(before) && isTree(value)) return applied(before, value, place);
  if (typeof before === 'number') {
    const number: unknown = value === NEVER ? Infinity : value;
    const wrong = whyNotInLimit(place, number);
    if (wrong !== null) throw new ArgumentError(wrong);
    return number;
  }
  if (Array.isArray(before) && Array.isArray(value) && value.length > 0) {
    // Lists are given whole; what they hold looks like what they held.
    const items: readonly unknown[] = value;
    const like: unknown = before[0];
    return items.map((item, index) => appliedValue(like, item, `${place}[${index}]`));
  }
  if (typeof before === typeof value && !isTree(before) && !Array.isArray(before)) return value;
  throw new ArgumentError(
    `option ${place} is of another kind: the seed has ${JSON.stringify(before)}`,
  );
}

function isSame(a: unknown, b: unknown): boolean {
  return Object.is(a, b) || (Array.isArray(a) && JSON.stringify(a) === JSON.stringify(b));
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asTree(options: RunOptions): Tree {
  return options as unknown as Tree;
}
