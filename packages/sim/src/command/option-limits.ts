/** Which numbers an option may have: beyond them a run breaks an assertion at once, or never comes to rest. */
import { PLAIN_RUN } from '../plain-run.ts';

interface Limit {
  readonly least: number;
  readonly most: number;
  readonly isWhole: boolean;
  /** It may be switched off: Infinity stands for never. */
  readonly mayBeNever: boolean;
  readonly isPowerOfTwo: boolean;
}

const count: Limit = {
  least: 1,
  most: 1_000_000,
  isWhole: true,
  mayBeNever: false,
  isPowerOfTwo: false,
};
const time: Limit = { ...count, least: 0, most: 1e9, isWhole: false };
const percent: Limit = { ...time, most: 100 };
const bytes: Limit = { ...count, least: 4096, most: 2 ** 26 };
const delay: Limit = { ...time, most: 100 };

/** Options that their names say too little about. */
const limits: Readonly<Record<string, Limit>> = {
  'cluster.gateways': { ...count, most: 16 },
  'cluster.nodes': { ...count, most: 16 },
  'cluster.loops': { ...count, most: 16 },
  'cluster.spareNodes': { ...count, least: 0, most: 16 },
  'cluster.sizes.blockBytes': { ...bytes, most: 2 ** 20, isPowerOfTwo: true },
  'cluster.sizes.chunkBytes': bytes,
  'cluster.sizes.tailBytes': bytes,
  'cluster.sizes.wholeBytes': bytes,
  'cluster.storeBytes': bytes,
  'cluster.clockDrift': { ...time, most: 0.001 },
  'cluster.doorkeeperWindowMs': { ...time, least: 1 },
  'cluster.probeMs': { ...time, least: 1, most: 10_000 },
  'gateway.maxRestarts': { ...count, least: 0 },
  'gateway.maxAheadReads': { ...count, least: 0 },
  'gateway.maxAheadBlocks': { ...count, least: 0 },
  'gateway.writeSlots': { ...count, isPowerOfTwo: true },
  // More take more events than any run may have.
  'workload.requests': { ...count, least: 0, most: 10_000 },
  'workload.clientsPerGateway': { ...count, most: 1000 },
  'workload.keysPerBucket': { ...count, most: 1000 },
  'delays.networkMs': delay,
  'delays.originMs': delay,
  'delays.diskMs': delay,
  'delays.clientMs': delay,
};

/** What is wrong with the number as a value of the option `path`, such as `cluster.nodes`; null when nothing is. */
export function whyNotInLimit(path: string, value: unknown): string | null {
  const limit = limitOf(path);
  const { least, most, isWhole, mayBeNever, isPowerOfTwo } = limit;
  if (typeof value === 'number') {
    if (value === Infinity && mayBeNever) return null;
    const isRight = !isWhole || Number.isInteger(value);
    const isOfTwo = !isPowerOfTwo || Number.isInteger(Math.log2(value));
    if (isRight && isOfTwo && value >= least && value <= most) return null;
  }
  const kind = isPowerOfTwo ? 'power of two' : isWhole ? 'whole number' : 'number';
  const never = mayBeNever ? ', or "never"' : '';
  return `option ${path} is a ${kind} from ${least} to ${most}${never}`;
}

function limitOf(path: string): Limit {
  const own = limits[path];
  if (own !== undefined) return own;
  if (path.endsWith('Percent')) return percent;
  const limit = path.endsWith('Ms') ? time : count;
  // What the plainest run has switched off any run may.
  return plainOf(path) === Infinity ? { ...limit, least: 1, mayBeNever: true } : limit;
}

function plainOf(path: string): unknown {
  let value: unknown = PLAIN_RUN;
  for (const name of path.split('.')) {
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[name];
  }
  return value;
}
