/**
 * `npm run bench`: measures the performance targets from outside, as processes, with peers beside in the same run. Prints tables;
 * with --json one object last; with --write the pages are brought up to date.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { groups, type Group } from './catalog.ts';
import { NotMeasurable, type Comparison, type FigureResult } from './figure.ts';
import { describeMachine } from './machine/description.ts';
import { cleanUpOnInterrupt } from './machine/interrupt.ts';
import { NoiseMeter, noiseWarnings } from './machine/noise.ts';
import { optionsOrExit } from './arguments.ts';
import { optionsFrom, usage, type Options } from './options.ts';
import { peerVersions } from './peers/versions.ts';
import { Progress } from './progress.ts';
import { comparisonTable, figureTable } from './report/console-table.ts';
import { writeResults } from './report/write.ts';
import { fullScale, quickScale } from './scale.ts';

interface Results {
  readonly figures: FigureResult[];
  readonly comparisons: Comparison[];
  /** Figures that weren't measured, and why. */
  readonly skipped: { readonly ids: readonly string[]; readonly reason: string }[];
}

const progress = new Progress();

const isWantedBy =
  ({ only }: Options) =>
  (id: string): boolean =>
    only === null || only.includes(id);

const groupsFor = (options: Options): Group[] =>
  groups.filter(({ ids }) => ids.some(isWantedBy(options)));

/** A quick run that names no figures does without those that take long to start. */
const isLeftOut = ({ isQuick }: Group, options: Options): boolean =>
  options.isQuick && options.only === null && !isQuick;

async function measureAll(options: Options, scratch: string): Promise<Results> {
  const results: Results = { figures: [], comparisons: [], skipped: [] };
  for (const group of groupsFor(options)) {
    if (isLeftOut(group, options)) {
      const reason = `left out of a quick run; --quick --only ${group.ids.join(',')} has it`;
      results.skipped.push({ ids: group.ids, reason });
      continue;
    }
    await measureGroup(group, results, {
      directory: join(scratch, group.ids[0] ?? ''),
      scale: options.isQuick ? quickScale : fullScale,
      progress,
      isWanted: isWantedBy(options),
    });
  }
  return results;
}

async function measureGroup(
  { ids, measure }: Group,
  results: Results,
  run: Parameters<Group['measure']>[0],
): Promise<void> {
  mkdirSync(run.directory, { recursive: true });
  try {
    const { figures, comparisons } = await measure(run);
    results.figures.push(...figures);
    results.comparisons.push(...comparisons);
  } catch (error) {
    if (!(error instanceof NotMeasurable)) throw error;
    progress.say(`${ids.join(', ')} can't be measured here: ${error.message}`);
    results.skipped.push({ ids, reason: `not measurable here: ${error.message}` });
  } finally {
    rmSync(run.directory, { recursive: true, force: true });
  }
}

async function run(options: Options): Promise<void> {
  const isTimed = groupsFor(options).some(({ isCounted }) => !isCounted);
  const peers = isTimed ? peerVersions() : {};
  const missing = Object.entries(peers).filter(([, version]) => version === null);
  for (const [name] of missing) progress.say(`${name} isn't installed: scripts/peers install`);
  const scratch = mkdtempSync(join(options.directory, 's3-accelerator-bench-'));
  cleanUpOnInterrupt(scratch);
  const meter = new NoiseMeter();
  let results: Results;
  try {
    results = await measureAll(options, scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  const { figures, comparisons, skipped } = results;
  const warnings = isTimed ? noiseWarnings(meter.read(), figures) : [];
  const description = describeMachine();
  const { machine, kernel, node, commit } = description;
  const present = Object.entries(peers).flatMap(([name, version]) =>
    version === null ? [] : [[name, version] as const],
  );
  process.stdout.write(
    `${machine}, Linux ${kernel}, Node ${node}, commit ${commit}` +
      `${present.map(([name, version]) => `, ${name} ${version}`).join('')}\n`,
  );
  if (figures.length > 0) process.stdout.write(`${figureTable(figures)}\n`);
  if (comparisons.length > 0) process.stdout.write(`${comparisonTable(comparisons)}\n`);
  for (const { ids, reason } of skipped) {
    process.stdout.write(`${ids.join(', ')}: ${reason}\n`);
  }
  for (const warning of warnings) process.stdout.write(`Noisy: ${warning}\n`);
  if (options.isWritten) {
    const command = [
      'npm run bench --',
      ...process.argv.slice(2).filter((arg) => arg !== '--json'),
    ];
    await writeResults(
      { ...description, command: command.join(' '), peers: Object.fromEntries(present), warnings },
      figures,
      comparisons,
    );
  }
  if (options.isJson) {
    process.stdout.write(`${JSON.stringify({ ...results, warnings, ...description })}\n`);
  }
}

await run(optionsOrExit(optionsFrom, usage));
