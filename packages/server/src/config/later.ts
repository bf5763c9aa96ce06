/**
 * Tables and keys that belong to the design but aren't built yet.
 *
 * They are refused by name: ignoring one would let somebody believe that it works. A feature that gets
 * built takes its line from here into the settings table.
 */

const tables: ReadonlySet<string> = new Set(['events', 'gateway.tls', 'cluster.tls', 'admin.tls']);

/** Keys of features to come, in whichever table, without their unit. */
const keys: ReadonlySet<string> = new Set(['access_log', 'scrub_interval']);

/** How a message names what isn't supported yet at this path, or undefined when it is no later feature. */
export function laterFeature(path: string): string | undefined {
  if (tables.has(path)) return `[${path}]`;
  const key = path.slice(path.lastIndexOf('.') + 1);
  return keys.has(key.replace(/_m?s$/, '')) ? path : undefined;
}
