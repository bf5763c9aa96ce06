/**
 * Reads parsed TOML against a table of rows: types, ranges, missing and unknown keys.
 *
 * Every fault is collected with its exact path. Where a value is a fault its default stands in, or nothing, so that the
 * checks after this one still find what else is wrong. The program's settings are one such table, the load generator's plans
 * another.
 */
import type { Address } from './address.ts';
import { Problems } from './problems.ts';
import type { List, Named, Node, Row, Rows, Table } from './row.ts';
import { camel } from './row.ts';
import type { Secret } from './secret.ts';
import { hidden } from './secret.ts';
import { nearest } from './suggest.ts';

export type TomlTable = Readonly<Record<string, unknown>>;

/** Values of which any may be missing, because it was a fault. */
export type Unsure<T> = T extends string | number | boolean | Secret | Address | undefined
  ? T | undefined
  : T extends ReadonlyMap<string, infer V>
    ? ReadonlyMap<string, Unsure<V>>
    : T extends readonly (infer E)[]
      ? readonly Unsure<E>[] | undefined
      : { readonly [K in keyof T]: Unsure<T[K]> };

/** One reading of a document. */
interface Reading {
  /** The whole table of rows: an unknown key may belong elsewhere in it. */
  readonly whole: Rows;
  readonly problems: Problems;
  /** How a message names a feature to come at this path, undefined when it is none. */
  readonly laterFeature: (path: string) => string | undefined;
}

/** The values in a parsed TOML document. Faults go to `problems`: without any, all that is required is there. */
export function readDocument(
  rows: Rows,
  document: TomlTable,
  problems: Problems,
  laterFeature: Reading['laterFeature'] = () => undefined,
): object {
  return readRows(rows, document, '', { whole: rows, problems, laterFeature });
}

export function joinPath(parent: string, key: string): string {
  const written = /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
  return parent === '' ? written : `${parent}.${written}`;
}

function readRows(rows: Rows, raw: TomlTable, path: string, reading: Reading): object {
  for (const key of Object.keys(raw)) {
    if (!Object.hasOwn(rows, key)) reading.problems.add(unknownKey(rows, key, path, reading));
  }
  const read: Record<string, unknown> = {};
  for (const [key, node] of Object.entries(rows)) {
    const value = Object.hasOwn(raw, key) ? raw[key] : undefined;
    read[camel(key)] = readNode(node, value, joinPath(path, key), reading);
  }
  return Object.freeze(read);
}

function readNode(node: Node, raw: unknown, path: string, reading: Reading): unknown {
  switch (node.is) {
    case 'row':
      return readRow(node, raw, path, reading);
    case 'table':
      return readTable(node, raw, path, reading);
    case 'list':
      return readList(node, raw, path, reading);
    case 'named':
      return readNamed(node, raw, path, reading);
  }
}

function readRow(row: Row<unknown>, raw: unknown, path: string, reading: Reading): unknown {
  if (raw === undefined) {
    if (row.required) reading.problems.add(`${path}: missing; must be ${row.allowed}`);
    return row.fallback;
  }
  const value = row.read(raw);
  if (value === undefined) {
    reading.problems.add(`${path} = ${row.secret ? hidden : shown(raw)}: must be ${row.allowed}`);
    return row.fallback;
  }
  return typeof value === 'object' ? Object.freeze(value) : value;
}

function readTable(
  node: Table<Rows, boolean>,
  raw: unknown,
  path: string,
  reading: Reading,
): unknown {
  if (raw === undefined && node.optional) return undefined;
  if (raw !== undefined && !isTable(raw)) {
    reading.problems.add(`${path}: must be a table, [${path}], not ${kindOf(raw)}`);
    // That it was meant to be there is known; what it lacks isn't worth telling.
    return readRows(node.rows, {}, path, { ...reading, problems: new Problems() });
  }
  return readRows(node.rows, raw ?? {}, path, reading);
}

function readList(node: List<Rows>, raw: unknown, path: string, reading: Reading): unknown {
  if (raw === undefined) return Object.freeze([]);
  if (!Array.isArray(raw)) {
    reading.problems.add(`${path}: must be an array of tables, not ${kindOf(raw)}`);
    return undefined;
  }
  const read = raw.map((entry: unknown, at) => {
    if (isTable(entry)) return readRows(node.rows, entry, `${path}[${at}]`, reading);
    reading.problems.add(`${path}[${at}]: must be a table, not ${kindOf(entry)}`);
    return undefined;
  });
  return read.includes(undefined) ? undefined : Object.freeze(read);
}

function readNamed(node: Named<Rows>, raw: unknown, path: string, reading: Reading): unknown {
  const read = new Map<string, object>();
  if (raw === undefined) return read;
  if (!isTable(raw)) {
    reading.problems.add(
      `${path}: must hold tables, [${path}.${node.keyName}], not ${kindOf(raw)}`,
    );
    return read;
  }
  for (const [key, entry] of Object.entries(raw)) {
    const entryPath = joinPath(path, key);
    if (!isTable(entry)) {
      reading.problems.add(`${entryPath}: must be a table, [${entryPath}], not ${kindOf(entry)}`);
    } else if (!node.keyPattern.test(key)) {
      reading.problems.add(`${entryPath}: its name must be ${node.keyAllowed}`);
    } else {
      read.set(key, readRows(node.rows, entry, entryPath, reading));
    }
  }
  return read;
}

/** The value of a misspelt key may be a secret, so this names only the key. */
function unknownKey(rows: Rows, key: string, parent: string, reading: Reading): string {
  const path = joinPath(parent, key);
  const later = reading.laterFeature(path);
  if (later !== undefined) return `${later} isn't supported yet by this version`;
  const near = nearest(key, Object.keys(rows));
  if (near !== undefined) return `${path}: unknown key; did you mean ${joinPath(parent, near)}?`;
  const elsewhere = pathsOf(reading.whole, '').find((known) => known.endsWith(`.${key}`));
  if (elsewhere !== undefined) return `${path}: unknown key; did you mean ${elsewhere}?`;
  return `${path}: unknown key; known here: ${Object.keys(rows).join(', ')}`;
}

function pathsOf(rows: Rows, parent: string): string[] {
  return Object.entries(rows).flatMap(([key, node]) => {
    const path = joinPath(parent, key);
    return node.is === 'table' ? [path, ...pathsOf(node.rows, path)] : [path];
  });
}

function isTable(raw: unknown): raw is TomlTable {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) && !isDate(raw);
}

function isDate(raw: object): boolean {
  return raw instanceof Date;
}

function kindOf(raw: unknown): string {
  if (typeof raw === 'string') return 'text';
  if (typeof raw === 'number') return 'a number';
  if (typeof raw === 'boolean') return 'true or false';
  if (Array.isArray(raw)) return 'an array';
  return isTable(raw) ? 'a table' : 'a date';
}

const shownLength = 60;

/** A value as the file has it, cut short; credentials inside a URL are left out. */
function shown(raw: unknown): string {
  if (typeof raw === 'number') return String(raw);
  if (typeof raw !== 'string' && typeof raw !== 'boolean') return kindOf(raw);
  const written = JSON.stringify(raw).replace(/:\/\/.*@/, `://${hidden}@`);
  return written.length <= shownLength ? written : `${written.slice(0, shownLength)}…"`;
}
