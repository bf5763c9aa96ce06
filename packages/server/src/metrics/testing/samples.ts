/** Tells in tests which counters are published, each once. */
import type { Metrics } from '../metrics.ts';

/** What a scrape says, by series. */
export async function samplesOf(metrics: Metrics): Promise<Map<string, number>> {
  const lines = (await metrics.scrape()).split('\n').filter((line) => /^s3accel_/.test(line));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

/** Gives each counter another value, so that two that are mixed up show. */
export function numbered<C extends object>(counters: C): Record<keyof C, number> {
  const entries = Object.keys(counters).map((name, at) => [name, 2 ** at]);
  return Object.fromEntries(entries) as Record<keyof C, number>;
}
