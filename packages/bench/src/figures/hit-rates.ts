/** P10: what the cache keeps, from the hit-rate lab: counts of replayed traces, the same on every machine. */
import { join } from 'node:path';
import { figureOf, type FigureResult } from '../figure.ts';
import { runToEnd } from '../machine/child.ts';
import type { Run } from '../run.ts';

const lab = join(import.meta.dirname, '../../../sim/src/lab/main.ts');

interface LabResult {
  readonly targets: readonly {
    readonly title: string;
    readonly value: number;
    readonly limit: string;
    readonly pass: boolean;
  }[];
}

export async function measureHitRates({ progress }: Run): Promise<FigureResult[]> {
  progress.say('P10: npm run hit-rates');
  // A target that is short makes the lab's exit code 1; what it printed says which.
  const printed = await runToEnd(
    [],
    [process.execPath, lab, '--policy', 'ours,lru', '--json'],
    '',
    [0, 1],
  );
  const { targets } = JSON.parse(printed) as LabResult;
  return targets.map(({ title, value, limit, pass }, index) =>
    figureOf(
      {
        id: `P10${'abcdefgh'.charAt(index)}`,
        title,
        unit: title.endsWith('S3') ? 'bytes' : '',
        target: limit,
      },
      [value],
      { pass, note: 'npm run hit-rates' },
    ),
  );
}
