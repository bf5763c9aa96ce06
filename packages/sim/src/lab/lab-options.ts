/** The arguments of `npm run hit-rates`. */
import { ALL_POLICIES, type PolicyChoice } from './policies/all-policies.ts';

const policyLines = ALL_POLICIES.map(
  ({ name, about }) => `                    ${name.padEnd(8)} ${about}`,
);

export const usage = `Usage: npm run hit-rates -- [--trace FILE] [--policy NAMES] [--capacity SIZE] [--json] [--plot FILE]

  --trace FILE      a recorded trace instead of the generated ones: CSV (time,key,size,offset,length)
                    or an S3 server access log
  --policy NAMES    only these, separated by commas:
${policyLines.join('\n')}
  --capacity SIZE   of the cache, such as 512MiB or 16GiB (default: what each trace is meant for; 16GiB for FILE)
  --json            print one object instead of tables
  --plot FILE       write the results as a picture too (SVG)

Exit code 0 when all targets are met, 1 when one is short, 2 for arguments or traces that can't be used.
`;

/** An argument that can't be used; the message says why. */
export class LabError extends Error {
  override readonly name = 'LabError';
}

export interface LabOptions {
  /** Null for the generated traces. */
  readonly trace: string | null;
  readonly policies: readonly PolicyChoice[];
  /** Null for what each trace is meant for. */
  readonly capacityBytes: number | null;
  readonly json: boolean;
  /** Where the picture goes; null for none. */
  readonly plot: string | null;
}

const UNITS = new Map([
  ['MiB', 2 ** 20],
  ['GiB', 2 ** 30],
  ['TiB', 2 ** 40],
]);
const MAX_CAPACITY_BYTES = 16 * 2 ** 40;

/** Throws a LabError for what can't be used. */
export function optionsFrom(values: {
  readonly trace?: string | undefined;
  readonly policy?: string | undefined;
  readonly capacity?: string | undefined;
  readonly json: boolean;
  readonly plot?: string | undefined;
}): LabOptions {
  const { trace, policy, capacity, json, plot } = values;
  if (trace === '' || plot === '') throw new LabError('--trace and --plot take the name of a file');
  return {
    trace: trace ?? null,
    policies: policy === undefined ? ALL_POLICIES : policiesOf(policy),
    capacityBytes: capacity === undefined ? null : capacityOf(capacity),
    json,
    plot: plot ?? null,
  };
}

function policiesOf(names: string): readonly PolicyChoice[] {
  const policies = names.split(',').map(policyOf);
  const twice = policies.find((policy, index) => policies.indexOf(policy) !== index);
  if (twice !== undefined) throw new LabError(`policy '${twice.name}' is named twice`);
  return policies;
}

function policyOf(name: string): PolicyChoice {
  const policy = ALL_POLICIES.find((each) => each.name === name.trim());
  if (policy !== undefined) return policy;
  const known = ALL_POLICIES.map((each) => each.name).join(', ');
  throw new LabError(`no policy is called '${name.trim()}'; there are ${known}`);
}

function capacityOf(text: string): number {
  const match = /^(\d{1,6})(MiB|GiB|TiB)$/.exec(text);
  const unit = UNITS.get(match?.[2] ?? '');
  const bytes = Number(match?.[1]) * (unit ?? NaN);
  if (bytes >= 2 ** 20 && bytes <= MAX_CAPACITY_BYTES) return bytes;
  throw new LabError(`capacity '${text}' is none: from 1MiB to 16TiB, such as 512MiB or 16GiB`);
}
