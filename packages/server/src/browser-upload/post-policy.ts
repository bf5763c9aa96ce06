/**
 * The policy of a browser's upload: what its signer lets a form say.
 *
 * A document of JSON with an expiration and conditions. Every field of the form must be covered by a condition, but for the
 * policy itself, its signature, the file, and names that begin with x-ignore-; so must the bucket. Default deny: a
 * condition that isn't understood refuses the form.
 */
import { utf8ToBinary } from '@s3-accelerator/core/s3/percent-encoding.ts';

interface Condition {
  readonly kind: 'eq' | 'starts-with';
  /** A field's name in lower case. */
  readonly field: string;
  /** A binary string. */
  readonly value: string;
}

export interface PostPolicy {
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
  readonly conditions: readonly Condition[];
  /** Bytes of the file, inclusive. */
  readonly minLength: number;
  readonly maxLength: number;
}

/** Reads the field's base64; null when it is no policy. */
export function readPolicy(base64: string): PostPolicy | null {
  if (!/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(base64)) return null;
  let document: unknown;
  try {
    const bytes = Buffer.from(base64, 'base64');
    document = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
  if (!isRecord(document)) return null;
  const { expiration, conditions } = document;
  if (typeof expiration !== 'string' || !Array.isArray(conditions)) return null;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(expiration)) return null;
  const expiresAtMs = Date.parse(expiration);
  if (Number.isNaN(expiresAtMs)) return null;
  return readConditions(conditions, expiresAtMs);
}

function readConditions(all: readonly unknown[], expiresAtMs: number): PostPolicy | null {
  const conditions: Condition[] = [];
  let minLength = 0;
  let maxLength = Infinity;
  for (const one of all) {
    const range = lengthRange(one);
    if (range !== null) {
      minLength = Math.max(minLength, range.min);
      maxLength = Math.min(maxLength, range.max);
      continue;
    }
    const read = Array.isArray(one) ? listed(one) : exact(one);
    if (read === null) return null;
    conditions.push(...read);
  }
  return { expiresAtMs, conditions, minLength, maxLength };
}

/** `["content-length-range", 1, 1048576]` */
function lengthRange(one: unknown): { readonly min: number; readonly max: number } | null {
  if (!Array.isArray(one) || one.length !== 3) return null;
  const [kind, ...bounds] = one as readonly unknown[];
  if (typeof kind !== 'string' || kind.toLowerCase() !== 'content-length-range') return null;
  const [min = NaN, max = NaN] = bounds.map((bound) =>
    /^\d{1,15}$/.test(String(bound)) ? Number(bound) : NaN,
  );
  // A range that can't be read allows nothing.
  return Number.isNaN(min) || Number.isNaN(max) ? { min: Infinity, max: -1 } : { min, max };
}

/** `["starts-with", "$key", "user/"]` */
function listed(one: readonly unknown[]): Condition[] | null {
  const [kind, field, value] = one;
  if (one.length !== 3 || typeof kind !== 'string' || typeof field !== 'string') return null;
  const known = kind.toLowerCase();
  if (known !== 'eq' && known !== 'starts-with') return null;
  const text = textOf(value);
  if (text === null || !field.startsWith('$')) return null;
  return [{ kind: known, field: field.slice(1).toLowerCase(), value: text }];
}

/** `{"acl": "public-read"}` */
function exact(one: unknown): Condition[] | null {
  if (!isRecord(one)) return null;
  const conditions: Condition[] = [];
  for (const [field, value] of Object.entries(one)) {
    const text = textOf(value);
    if (text === null) return null;
    conditions.push({ kind: 'eq', field: field.toLowerCase(), value: text });
  }
  return conditions;
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? utf8ToBinary(value) : null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a policy says nothing about: it can't name its own signature, and the file has its range of lengths. */
const uncovered: ReadonlySet<string> = new Set(['policy', 'x-amz-signature', 'file']);

/**
 * Null when the policy allows the form, else the reason in words. `fields` are those that were sent, names in lower case,
 * with the file's name filled in.
 */
export function refusedByPolicy(
  policy: PostPolicy,
  bucket: string,
  fields: ReadonlyMap<string, string>,
  nowMs: number,
): string | null {
  if (nowMs >= policy.expiresAtMs) return 'Invalid according to Policy: Policy expired.';
  const said = new Map(fields).set('bucket', bucket);
  for (const condition of policy.conditions) {
    if (holds(condition, said.get(condition.field) ?? '')) continue;
    const { kind, field, value } = condition;
    return `Invalid according to Policy: Policy Condition failed: ["${kind}", "$${field}", "${value}"]`;
  }
  const covered = new Set(policy.conditions.map(({ field }) => field));
  for (const name of said.keys()) {
    if (uncovered.has(name) || name.startsWith('x-ignore-') || covered.has(name)) continue;
    return `Invalid according to Policy: Extra input fields: ${name}`;
  }
  return null;
}

function holds({ kind, field, value }: Condition, said: string): boolean {
  if (kind === 'eq') return said === value;
  // Of a list of types each must begin so.
  if (field !== 'content-type') return said.startsWith(value);
  return said.split(',').every((type) => type.trimStart().startsWith(value));
}
