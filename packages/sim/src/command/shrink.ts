/**
 * Looks for a smaller run that still fails: fewer requests, faults switched off one at a time, a smaller cluster, simpler
 * everything.
 *
 * Tries one change after the other and keeps those with which the run still fails. A change may only work after another:
 * so rounds go on until one keeps nothing. What is found is small, not the smallest.
 */
import type { RunOptions } from '../options.ts';
import { PLAIN_RUN } from '../plain-run.ts';

type Change = (options: RunOptions) => RunOptions | null;

/** The groups in the order in which they are made plain: faults first, for they explain most. */
const GROUPS = ['faults', 'cluster', 'workload', 'delays', 'gateway', 'node'] as const;
/** Shares of the requests that are tried, the smallest first. */
const REQUEST_SHARES = [1 / 8, 1 / 2, 3 / 4, 15 / 16];

export interface Shrunk {
  readonly options: RunOptions;
  /** Runs that were tried. */
  readonly tries: number;
}

/** `fails` makes a run; at most `maxTries` are made. `onSmaller` hears of each that is kept. */
export function shrink(
  failing: RunOptions,
  fails: (options: RunOptions) => boolean,
  maxTries: number,
  onSmaller: (options: RunOptions, tries: number) => void = () => undefined,
): Shrunk {
  let options = failing;
  let tries = 0;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const change of changes(options)) {
      // A change that helps is made again as long as it does.
      for (let smaller = change(options); smaller !== null; smaller = change(options)) {
        if (tries === maxTries) return { options, tries };
        tries += 1;
        if (!fails(smaller)) break;
        options = smaller;
        isSmaller = true;
        onSmaller(options, tries);
      }
    }
  }
  return { options, tries };
}

/** Every change to try in one round. Each gives null when there is nothing left for it to change. */
function changes(options: RunOptions): readonly Change[] {
  const fields: Change[] = [];
  for (const group of GROUPS) {
    for (const name of Object.keys(PLAIN_RUN[group])) {
      if (group === 'workload' && name === 'requests') continue;
      fields.push((current) => madePlain(current, group, name));
    }
  }
  const requests = REQUEST_SHARES.map(
    (share): Change =>
      (current) =>
        fewerRequests(current, share),
  );
  const buckets = options.buckets.map(
    (bucket): Change =>
      (current) =>
        withoutBucket(current, bucket.name),
  );
  return [...requests, ...buckets, ...fields, ...requests];
}

function fewerRequests(options: RunOptions, share: number): RunOptions | null {
  const requests = Math.floor(options.workload.requests * share);
  if (requests < 1) return null;
  return { ...options, workload: { ...options.workload, requests } };
}

function withoutBucket(options: RunOptions, name: string): RunOptions | null {
  const buckets = options.buckets.filter((bucket) => bucket.name !== name);
  if (buckets.length === 0 || buckets.length === options.buckets.length) return null;
  return { ...options, buckets };
}

function madePlain(
  options: RunOptions,
  group: (typeof GROUPS)[number],
  name: string,
): RunOptions | null {
  const current = options[group] as unknown as Readonly<Record<string, unknown>>;
  const plain = (PLAIN_RUN[group] as unknown as Readonly<Record<string, unknown>>)[name];
  if (
    JSON.stringify(current[name]) === JSON.stringify(plain) &&
    !isOtherNumber(current[name], plain)
  ) {
    return null;
  }
  return { ...options, [group]: { ...current, [name]: plain } };
}

/** JSON has one text for Infinity and null. */
function isOtherNumber(a: unknown, b: unknown): boolean {
  return typeof a === 'number' && !Object.is(a, b);
}
