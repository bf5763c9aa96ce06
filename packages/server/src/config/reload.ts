/** What a changed configuration file may change in a running process, and what waits for a restart. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from './config.ts';
import { joinPath } from './read-rows.ts';
import type { Node, Rows } from './row.ts';
import { camel } from './row.ts';
import { Secret } from './secret.ts';
import { settings } from './settings.ts';

/** Paths of settings whose value differs and that SIGHUP doesn't apply. */
export function needRestart(running: Config, wanted: Config): string[] {
  return changedRows(settings, running, wanted, '');
}

function changedRows(rows: Rows, running: unknown, wanted: unknown, parent: string): string[] {
  return Object.entries(rows).flatMap(([key, node]) => {
    const path = joinPath(parent, key);
    return changed(node, fieldOf(running, camel(key)), fieldOf(wanted, camel(key)), path);
  });
}

function changed(node: Node, running: unknown, wanted: unknown, path: string): string[] {
  switch (node.is) {
    case 'row':
      return node.reloadable || same(running, wanted) ? [] : [path];
    case 'table':
      // A table that comes or goes is one change, and makes the process another kind of process.
      if ((running === undefined) !== (wanted === undefined)) return reloadable(node) ? [] : [path];
      return changedRows(node.rows, running, wanted, path);
    case 'list':
    case 'named':
      return reloadable(node) || same(running, wanted) ? [] : [path];
  }
}

function reloadable(node: Node): boolean {
  return node.is === 'row' ? node.reloadable : Object.values(node.rows).every(reloadable);
}

function same(running: unknown, wanted: unknown): boolean {
  if (running instanceof Secret && wanted instanceof Secret) return running.equals(wanted);
  return isDeepStrictEqual(running, wanted);
}

function fieldOf(table: unknown, key: string): unknown {
  return (table as Readonly<Record<string, unknown>> | undefined)?.[key];
}
