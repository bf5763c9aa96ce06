/**
 * `npm run mutants`: shows that the tests would notice. Every planted bug must be caught; one that no longer applies, that
 * doesn't compile or that nobody notices fails the run.
 */
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithReader } from '@s3-accelerator/sim/command/unread-output.ts';
import { catalogProblems } from './applies.ts';
import { soundLayers } from './baseline.ts';
import { catalog } from './catalog/catalog.ts';
import { optionsOf, usage, type Options } from './command-line.ts';
import { compileErrors } from './compile.ts';
import { hunt, isCaught, type Outcome } from './hunt.ts';
import { Imports } from './imports.ts';
import { inTrees } from './in-trees.ts';
import { NoticedBy } from './noticed-by.ts';
import {
  catalogTable,
  layerCounts,
  leastSimulated,
  progressLine,
  resultTable,
  simulatedCount,
} from './report.ts';
import { ScratchTree } from './scratch-tree.ts';

const root = join(import.meta.dirname, '../../..');

/** What ends a run early, and what shells say of a program that ended by it. */
const interruptions = [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

endWithReader();
const args = process.argv.slice(2);
if (args.includes('--help') || args.includes('-h')) {
  console.log(usage);
  process.exit(0);
}
const options = optionsOf(args, catalog);
if (typeof options === 'string') {
  console.error(`${options}\n\n${usage}`);
  process.exit(2);
}
process.exit(await act(options));

async function act({ what, bugs, isAll, jobs }: Options): Promise<number> {
  if (what === 'table') {
    console.log(catalogTable(bugs));
    return 0;
  }
  const problems = catalogProblems(catalog, root);
  if (problems.length > 0) {
    console.error(problems.join('\n'));
    return 1;
  }
  if (what === 'check') {
    console.log(`${catalog.length} planted bugs apply`);
    return 0;
  }
  const errors = compileErrors(bugs, root);
  for (const [name, error] of errors) console.error(`${name}: doesn’t compile: ${error}`);
  if (errors.size > 0) return 1;
  const trees: ScratchTree[] = [];
  // After whatever runs in them was ended (bounded-run.ts).
  process.on('exit', () => {
    for (const tree of trees) tree.remove();
  });
  for (const [signal, code] of interruptions) process.on(signal, () => process.exit(code));
  try {
    while (trees.length < Math.min(jobs, bugs.length)) trees.push(new ScratchTree(root));
  } catch (error) {
    console.error(`The tree can't be copied to ${tmpdir()}: ${(error as Error).message}`);
    console.error('Make room there, or set TMPDIR to another folder.');
    return 1;
  }
  return run(trees, { what, bugs, isAll, jobs });
}

async function run(trees: readonly ScratchTree[], { bugs, isAll }: Options): Promise<number> {
  const concurrency = Math.max(1, Math.floor(availableParallelism() / trees.length));
  const imports = new Imports(root);
  console.log('First the tests without a bug: what fails by itself would notice nothing.');
  const baseline = await soundLayers(trees, bugs, imports, concurrency);
  if (baseline === null) return 1;
  const outcomes: Outcome[] = [];
  const noticedBy = new NoticedBy(join(import.meta.dirname, 'noticed-by.json'));
  await inTrees(trees, bugs, async (tree, bug) => {
    const outcome = await hunt(bug, tree, imports, baseline, concurrency, noticedBy.of(bug));
    outcomes.push(outcome);
    noticedBy.learn(outcome);
    console.log(progressLine(outcome, outcomes.length, bugs.length));
  });
  const place = new Map(bugs.map((bug, index) => [bug, index]));
  outcomes.sort((a, b) => place.get(a.bug)! - place.get(b.bug)!);
  console.log(`\n${resultTable(outcomes)}\n`);
  console.log(`first caught by: ${layerCounts(outcomes)}`);
  const simulated = simulatedCount(outcomes);
  const isTooFew = isAll && simulated < leastSimulated;
  if (isTooFew) {
    console.log(`only ${simulated} need the simulator to be caught: ${leastSimulated} should`);
  }
  const caught = outcomes.filter(isCaught).length;
  for (const outcome of outcomes) {
    if (!isCaught(outcome)) console.log(`not caught: ${outcome.bug.name}: ${outcome.bug.why}`);
  }
  console.log(`${caught} of ${bugs.length} caught`);
  return caught === bugs.length && !isTooFew ? 0 : 1;
}
