/** The origins that the suite can start for itself, by name. */
import { startMemoryS3 } from './memory-s3.ts';
import { startRadosgw } from './radosgw.ts';
import type { StartedOrigin } from './started-origin.ts';

const starters: ReadonlyMap<string, () => Promise<StartedOrigin>> = new Map([
  ['memory-s3', startMemoryS3],
  ['radosgw', startRadosgw],
]);

export const startableOrigins: readonly string[] = [...starters.keys()];

/** @throws for a name that isn't known, and when it can't be started here */
export async function startOrigin(name: string): Promise<StartedOrigin> {
  const start = starters.get(name);
  if (start === undefined) {
    throw new Error(`no origin is called ${name}: ${startableOrigins.join(', ')}`);
  }
  return start();
}
