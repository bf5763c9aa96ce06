/** A run that only shows that a group of figures can be measured: far too small to say anything. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run } from '../run.ts';

const scale: Run['scale'] = {
  rounds: 1,
  hasManyNodes: true,
  requests: 1500,
  objects: 100,
  ranged: { kind: 'medium', count: 1 },
  blocks: 64 << 10,
  bulkBytes: 2 ** 28,
  cold: { count: 2, bytes: 16 << 20 },
  peerSizes: ['4 KiB', '64 KiB', '1 MiB'],
};

/** Measures with a folder that is gone afterwards. */
export async function tinyRun<T>(
  isWanted: Run['isWanted'],
  measure: (run: Run) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 's3-accelerator-bench-test-'));
  try {
    return await measure({ directory, scale, isWanted, progress: { say: () => undefined } });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
