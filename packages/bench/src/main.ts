/**
 * `npm run bench`: measures the performance targets from outside, as processes, with nginx beside in the same run.
 * Prints a table; with --json one object last.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import CliTable from 'cli-table3';
import { fullScale, quickScale, type FigureResult } from './figure.ts';
import { measureFills } from './figures/fills.ts';
import { hitFigures, measureHits } from './figures/hits.ts';
import { measureMemory } from './figures/memory.ts';
import { measureMisses } from './figures/misses.ts';
import { nginxVersion } from './peers/nginx.ts';
import { Progress } from './progress.ts';

const known: readonly string[] = [...hitFigures, 'P6', 'P7', 'P8'];

const usage = `Usage: npm run bench -- [--only P1,P2] [--quick] [--json] [--dir DIRECTORY]

  --only IDS    measure these alone: ${known.join(', ')}
  --quick       fewer requests and keys: a minute or two instead of ten
  --json        print one object last: {"figures": […]}
  --dir DIR     where the caches lie while it runs (default: the system's temporary folder)
`;

function options(): { only: string[] | null; quick: boolean; json: boolean; directory: string } {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string' },
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        dir: { type: 'string', default: tmpdir() },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    const only = values.only?.split(',').map((id) => id.trim().toUpperCase()) ?? null;
    const unknown = only?.filter((id) => !known.includes(id)) ?? [];
    if (unknown.length > 0) throw new Error(`no figure is called ${unknown.join(', ')}`);
    return { only, quick: values.quick, json: values.json, directory: values.dir };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

function formatted(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}

function table(results: readonly FigureResult[]): string {
  const rows = new CliTable({
    head: ['', 'figure', 'value', 'spread', 'peer', 'ratio', 'target', ''],
    style: { head: [], border: [] },
    colWidths: [null, 34, null, null, null, null, 34, null],
    wordWrap: true,
  });
  for (const result of results) {
    rows.push([
      result.id,
      result.note === '' ? result.title : `${result.title} (${result.note})`,
      `${formatted(result.value)} ${result.unit}`,
      `${formatted(result.spread[0])}–${formatted(result.spread[1])}`,
      result.peer === null ? '–' : formatted(result.peer),
      result.ratio === null ? '–' : result.ratio.toFixed(2),
      result.target,
      result.pass ? 'pass' : 'short',
    ]);
  }
  return rows.toString();
}

const { only, quick, json, directory } = options();
const wanted = (id: string): boolean => only === null || only.includes(id);
const scale = quick ? quickScale : fullScale;
const progress = new Progress();
const scratch = mkdtempSync(join(directory, 's3-accelerator-bench-'));
const kernel = release();
const model = /model name\s*: (.*)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown';
const nginx = nginxVersion();
if (nginx === null) progress.say('nginx is not installed: absolute figures alone decide');
const results: FigureResult[] = [];
try {
  if (hitFigures.some(wanted))
    results.push(...(await measureHits(scratch, scale, wanted, progress)));
  if (wanted('P6')) results.push(...(await measureFills(scratch, scale, progress)));
  if (wanted('P7')) results.push(...(await measureMisses(scratch, scale, progress)));
  if (wanted('P8')) results.push(...(await measureMemory(scratch, scale, progress)));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.stdout.write(
  `${cpus().length} × ${model}, Linux ${kernel}, Node ${process.versions.node}, ` +
    `nginx ${nginx ?? 'not installed'}\n${table(results)}\n`,
);
if (json) process.stdout.write(`${JSON.stringify({ figures: results })}\n`);
