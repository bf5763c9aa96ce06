/**
 * The layers of tests that a planted bug goes through, cheapest first. The first that notices it is the one that counts.
 *
 * unit: the test files that run the bug's file, those of its folder first. property: random histories against models, and
 * fuzzers. scenario and seeds: the simulator, for what it is made of. server: end-to-end tests that are named for the bug.
 */
import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from './bounded-run.ts';
import type { Imports } from './imports.ts';
import type { PlantedBug } from './planted-bug.ts';
import type { ScratchTree } from './scratch-tree.ts';

export type LayerName = 'unit' | 'property' | 'scenario' | 'seeds' | 'server';

export const layerNames: readonly LayerName[] = ['unit', 'property', 'scenario', 'seeds', 'server'];

export interface Layer {
  readonly name: LayerName;
  readonly files: readonly string[];
  /** The same for layers whose files are tried together without a bug. */
  readonly group: string;
}

/** Seeds of the simulator that a planted bug has to get through. */
const seeds = 400;
const seedRange = 'packages/mutants/src/seed-range.ts';

/** Random histories of whole machines and structures, held against simple models. */
const isProperty = (file: string): boolean =>
  file.endsWith('/machines.test.ts') ||
  file.endsWith('-history.test.ts') ||
  file.endsWith('.fuzz.ts');

/** Benchmarks say how fast, the long tests take long, and packages/mutants would test itself. */
const isNoLayer = (file: string): boolean =>
  file.endsWith('bench.test.ts') || file.endsWith('.long.test.ts');

/** What the simulator runs: the core, and the table of grants. */
const isSimulated = (file: string): boolean =>
  file.startsWith('packages/core/') ||
  /^packages\/server\/src\/auth\/(grants|operation)\.ts$/.test(file);

/** The layers that a bug goes through, in their order. */
export function layersOf(bug: PlantedBug, root: string, imports: Imports): Layer[] {
  const folder = dirname(bug.file);
  const reaching = imports.reaching(bug.file);
  // Of the program only the folder's own tests are unit tests: others start servers.
  const isBeside = (file: string): boolean =>
    file.startsWith(bug.file.startsWith('packages/core/') ? 'packages/core/' : `${folder}/`);
  const tests = [...reaching]
    .filter((file) => /\.(test|fuzz)\.ts$/.test(file) && isBeside(file) && !isNoLayer(file))
    .sort(order);
  const unit = tests.filter((file) => !isProperty(file));
  const layers = [
    // On their own, since they notice most, and sooner.
    layer(
      'unit',
      unit.filter((file) => dirname(file) === folder),
    ),
    layer(
      'unit',
      unit.filter((file) => dirname(file) !== folder),
    ),
    layer('property', tests.filter(isProperty)),
  ];
  if (isSimulated(bug.file)) {
    layers.push(layer('scenario', testsIn('packages/sim/src/scenarios', root)));
    layers.push(layer('seeds', [seedRange]));
  }
  const named = bug.server ?? [];
  const endToEnd = named.map((name) => `packages/server/src/end-to-end/${name}.test.ts`);
  layers.push(layer('server', endToEnd));
  return layers.filter(({ files }) => files.length > 0);
}

/** How a layer is run in a tree; `concurrency` test files at a time. */
export function commandOf({ name, files }: Layer, tree: ScratchTree, concurrency: number): Command {
  if (name === 'seeds') {
    const args = [seedRange, String(seeds)];
    return { args, cwd: tree.root, failure: /^(seed \d+ failed: .*)$/ };
  }
  const args = ['--import', tree.preload, '--test', '--test-reporter=tap'];
  // Pure code needs no process for each file, and starts far quicker without.
  const isPure = files.every((file) => /^packages\/(core|protocol|sim)\//.test(file));
  args.push(isPure ? '--test-isolation=none' : `--test-concurrency=${concurrency}`);
  return {
    args: [...args, ...files],
    cwd: tree.root,
    failure: /^\s*not ok \d+ - (.*)$/,
    place: /^\s*location: '(.*\.ts):\d+:\d+'$/,
  };
}

function layer(name: LayerName, files: readonly string[]): Layer {
  return { name, files, group: `${name} ${packageOf(files[0] ?? '')}` };
}

function packageOf(file: string): string {
  return file.split('/')[1] ?? '';
}

function testsIn(folder: string, root: string): string[] {
  return globSync(`${folder}/**/*.test.ts`, { cwd: root }).sort(order);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
