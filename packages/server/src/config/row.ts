/**
 * The kinds of rows that the settings table is written in, and the type that a table of them yields.
 *
 * A row knows how to read its value, what it allows in words, and everything its documentation says, so the
 * type, the validation, the documentation and the example file all come from the same place. Tables nest: a
 * `Table` is one TOML table, a `List` an array of tables, `Named` a table whose keys the user chooses.
 */
import { isAbsolute, resolve } from 'node:path';
import { TomlDate } from 'smol-toml';
import type { Address } from './address.ts';
import { formatAddress, parseAddress } from './address.ts';
import { Secret } from './secret.ts';
import { formatSize, parseSize } from './sizes.ts';

export type Unit =
  | ''
  | 'bytes'
  | 'ms'
  | 's'
  | 'µs'
  | 'connections'
  | 'links'
  | 'requests'
  | 'reads'
  | 'fetches'
  | 'entries'
  | 'nodes';

/** One setting. `V` is the type of its value, with undefined when the setting is optional. */
export interface Row<V> {
  readonly is: 'row';
  readonly doc: string;
  readonly unit: Unit;
  /** What is allowed, ready to follow "must be". */
  readonly allowed: string;
  readonly required: boolean;
  /** The value when the setting is missing and not required. */
  readonly fallback: V | undefined;
  /** The default in words, for the documentation: also where other settings decide it. */
  readonly fallbackText: string;
  /** A value in TOML, for the example file. */
  readonly example: string;
  /** Whether SIGHUP applies a new value without a restart. */
  readonly reloadable: boolean;
  readonly secret: boolean;
  /** The value that the TOML value stands for; undefined when it isn't allowed. */
  readonly read: (raw: unknown) => V | undefined;
}

export type Rows = Readonly<Record<string, Node>>;

export interface Table<R extends Rows, Optional extends boolean> {
  readonly is: 'table';
  readonly doc: string;
  /** An optional table that is missing reads as undefined; any other as its defaults. */
  readonly optional: Optional;
  readonly rows: R;
}

export interface List<R extends Rows> {
  readonly is: 'list';
  readonly doc: string;
  /** Shown as an inline array in the example file, and not as [[tables]]. */
  readonly inline: boolean;
  readonly rows: R;
}

export interface Named<R extends Rows> {
  readonly is: 'named';
  readonly doc: string;
  /** What the user's keys are, such as `<bucket>`. */
  readonly keyName: string;
  readonly keyPattern: RegExp;
  readonly keyAllowed: string;
  readonly exampleKey: string;
  readonly rows: R;
}

export type Node = Row<unknown> | Table<Rows, boolean> | List<Rows> | Named<Rows>;

/** `fill_budget_bytes` in the file is `fillBudgetBytes` in the code. */
export type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;

export function camel(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export type ReadRows<R> = { readonly [K in keyof R & string as Camel<K>]: Read<R[K]> };

/** The type of what a node of the table reads. */
export type Read<N> =
  N extends Row<infer V>
    ? V
    : N extends Table<infer R, infer Optional>
      ? ReadRows<R> | (Optional extends true ? undefined : never)
      : N extends List<infer R>
        ? readonly ReadRows<R>[]
        : N extends Named<infer R>
          ? ReadonlyMap<string, ReadRows<R>>
          : never;

interface Words {
  readonly doc: string;
  readonly example?: string;
  readonly fallbackText?: string;
  readonly reloadable?: boolean;
}

/** A setting has a default, or must be there, or may be left out. */
type Presence<V> = { readonly default: V } | { readonly need: 'required' | 'optional' };

type Value<V, P> = P extends { readonly need: 'optional' } ? V | undefined : V;

interface Kind<V> {
  readonly allowed: string;
  readonly read: (raw: unknown) => V | undefined;
  readonly write: (value: V) => string;
  readonly unit?: Unit;
  readonly secret?: boolean;
}

function row<V, P extends Presence<V>>(words: Words & P, kind: Kind<V>): Row<Value<V, P>> {
  const fallback = 'default' in words ? words.default : undefined;
  const written = fallback === undefined ? '' : kind.write(fallback);
  // `Value<V, P>` is V, or V with undefined: only the missing value differs, and that is `fallback`'s.
  return {
    is: 'row',
    doc: words.doc,
    unit: kind.unit ?? '',
    allowed: kind.allowed,
    required: 'need' in words && words.need === 'required',
    fallback,
    fallbackText: words.fallbackText ?? written,
    example: words.example ?? written,
    reloadable: words.reloadable ?? false,
    secret: kind.secret ?? false,
    read: kind.read,
  } as Row<unknown> as Row<Value<V, P>>;
}

const quote = (text: string): string => JSON.stringify(text);

interface Span {
  readonly min: number;
  readonly max: number;
  readonly unit?: Unit;
}

export function integer<const P extends Presence<number>>(
  words: Words & Span & P,
): Row<Value<number, P>> {
  const { min, max, unit = '' } = words;
  return row<number, P>(words, {
    unit,
    allowed: `a whole number${unit === '' ? '' : ` of ${unit}`} from ${min} to ${max}`,
    read: (raw) =>
      typeof raw === 'number' && Number.isInteger(raw) && raw >= min && raw <= max
        ? raw
        : undefined,
    write: String,
  });
}

export function size<const P extends Presence<number>>(
  words: Words & Span & P,
): Row<Value<number, P>> {
  const { min, max } = words;
  return row<number, P>(words, {
    unit: 'bytes',
    allowed: `a size from ${formatSize(min)} to ${formatSize(max)}, in bytes or such as "10GiB"`,
    read: (raw) => {
      const bytes = parseSize(raw);
      const fits = bytes !== undefined && Number.isInteger(bytes) && bytes >= min && bytes <= max;
      return fits ? bytes : undefined;
    },
    write: (bytes) => quote(formatSize(bytes).replace(' ', '')),
  });
}

export function flag<const P extends Presence<boolean>>(words: Words & P): Row<Value<boolean, P>> {
  return row<boolean, P>(words, {
    allowed: 'true or false',
    read: (raw) => (typeof raw === 'boolean' ? raw : undefined),
    write: String,
  });
}

export function choice<const T extends string, const P extends Presence<T>>(
  of: readonly T[],
  words: Words & P,
): Row<Value<T, P>> {
  return row<T, P>(words, {
    allowed: `one of ${of.map(quote).join(', ')}`,
    read: (raw) => of.find((known) => known === raw),
    write: quote,
  });
}

export function text<const P extends Presence<string>>(
  words: Words & P & { readonly pattern: RegExp; readonly allowed: string },
): Row<Value<string, P>> {
  return row<string, P>(words, {
    allowed: words.allowed,
    read: (raw) => (typeof raw === 'string' && words.pattern.test(raw) ? raw : undefined),
    write: quote,
  });
}

/** An array of texts, each of which fits the pattern; `most` of them at most. */
export function texts<const P extends Presence<readonly string[]>>(
  words: Words & P & { readonly pattern: RegExp; readonly allowed: string; readonly most: number },
): Row<Value<readonly string[], P>> {
  const { pattern, most } = words;
  const isText = (raw: unknown): raw is string => typeof raw === 'string' && pattern.test(raw);
  return row<readonly string[], P>(words, {
    allowed: `an array of at most ${most}, each ${words.allowed}`,
    read: (raw) =>
      Array.isArray(raw) && raw.length <= most && raw.every(isText)
        ? Object.freeze([...raw])
        : undefined,
    write: (values) => `[${values.map(quote).join(', ')}]`,
  });
}

export function secret<const P extends Presence<Secret>>(words: Words & P): Row<Value<Secret, P>> {
  return row<Secret, P>(words, {
    allowed: 'text of 1 to 4096 characters without line breaks',
    secret: true,
    read: (raw) =>
      typeof raw === 'string' && /^[^\r\n]{1,4096}$/.test(raw) ? new Secret(raw) : undefined,
    write: () => '"..."',
  });
}

/** A point in time. Reads as milliseconds since 1970. */
export function moment<const P extends Presence<number>>(words: Words & P): Row<Value<number, P>> {
  return row<number, P>(words, {
    allowed: 'a date and time with its offset from UTC, such as 2027-12-31T00:00:00Z',
    read: (raw) => {
      // Without an offset it would be another moment on each machine.
      const isWhole = raw instanceof TomlDate && raw.isDateTime() && !raw.isLocal();
      return isWhole && !Number.isNaN(raw.getTime()) ? raw.getTime() : undefined;
    },
    write: (ms) => new Date(ms).toISOString(),
  });
}

export function address<const P extends Presence<Address>>(
  words: Words & P & { readonly portZero?: boolean },
): Row<Value<Address, P>> {
  const portZero = words.portZero ?? false;
  return row<Address, P>(words, {
    allowed: `an IP address with a port, such as "10.0.1.10:9400" or "[fd00::1]:9400"${portZero ? '; port 0 lets the kernel choose' : ''}`,
    read: (raw) => {
      const parsed = typeof raw === 'string' ? parseAddress(raw) : undefined;
      return parsed === undefined || (parsed.port === 0 && !portZero) ? undefined : parsed;
    },
    write: (value) => quote(formatAddress(value)),
  });
}

/** An http or https URL to find a server at, with a path at most. Reads as written, without a slash at its end. */
export function endpoint<const P extends Presence<string>>(
  words: Words & P,
): Row<Value<string, P>> {
  return row<string, P>(words, {
    allowed: 'an http or https URL without credentials, query or fragment',
    read: (raw) => {
      // URL.parse silently drops line breaks and tabs: what is written there is no address anybody meant.
      const isPlain = typeof raw === 'string' && /^[\x21-\x7e]+$/.test(raw);
      const url = isPlain ? URL.parse(raw) : null;
      if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined;
      const extra = url.username + url.password + url.search + url.hash;
      return extra === '' ? (url.origin + url.pathname).replace(/\/+$/, '') : undefined;
    },
    write: quote,
  });
}

/** A path, taken from the working directory when it is relative. Reads as an absolute path. */
export function path<const P extends Presence<string>>(words: Words & P): Row<Value<string, P>> {
  return row<string, P>(words, {
    allowed: 'a path',
    read: (raw) => {
      if (typeof raw !== 'string' || raw === '' || raw.includes('\0')) return undefined;
      return isAbsolute(raw) ? raw : resolve(raw);
    },
    write: quote,
  });
}

export function table<const R extends Rows>(doc: string, rows: R): Table<R, false> {
  return { is: 'table', doc, optional: false, rows };
}

export function optionalTable<const R extends Rows>(doc: string, rows: R): Table<R, true> {
  return { is: 'table', doc, optional: true, rows };
}

export function list<const R extends Rows>(
  doc: string,
  rows: R,
  options: { readonly inline: boolean },
): List<R> {
  return { is: 'list', doc, inline: options.inline, rows };
}

export function named<const R extends Rows>(
  doc: string,
  keys: Pick<Named<R>, 'keyName' | 'keyPattern' | 'keyAllowed' | 'exampleKey'>,
  rows: R,
): Named<R> {
  return { is: 'named', doc, ...keys, rows };
}
