/** One planted bug on its way through the layers, until one of them notices it. */
import { relative } from 'node:path';
import { boundedRun, type Verdict } from './bounded-run.ts';
import type { Imports } from './imports.ts';
import { commandOf, layersOf, type Layer, type LayerName } from './layers.ts';
import type { PlantedBug } from './planted-bug.ts';
import { plant } from './planting.ts';
import type { ScratchTree } from './scratch-tree.ts';

export type Fate =
  /** A test failed. */
  | {
      readonly kind: 'caught';
      readonly layer: LayerName;
      readonly by: string;
      /** The test's file in the repository, '' when it isn't known. */
      readonly file: string;
    }
  /** A layer ran out of time. That counts for a bug that makes something wait for ever, and for no other. */
  | { readonly kind: 'hung'; readonly layer: LayerName }
  | { readonly kind: 'missed' }
  | { readonly kind: 'unusable'; readonly problem: string };

export interface Outcome {
  readonly bug: PlantedBug;
  readonly fate: Fate;
  readonly seconds: number;
}

/** How long each group of layers took without a bug. */
export type Baseline = ReadonlyMap<string, number>;

export function isCaught({ bug, fate }: Outcome): boolean {
  return fate.kind === 'caught' || (fate.kind === 'hung' && bug.hangs === true);
}

/**
 * Plants the bug into the tree, runs its layers, and takes it out again. `suspect` is the unit test that noticed it before, or else the
 * one that has the file's name: if it notices, no other needs to run.
 */
export async function hunt(
  bug: PlantedBug,
  tree: ScratchTree,
  imports: Imports,
  baseline: Baseline,
  concurrency: number,
  suspect = testOf(bug.file),
): Promise<Outcome> {
  const started = performance.now();
  const sound = tree.read(bug.file);
  const planting = plant(bug, sound);
  let fate: Fate = { kind: 'missed' };
  if (!planting.ok) {
    fate = { kind: 'unusable', problem: planting.problem };
  } else {
    tree.write(bug.file, planting.text);
    const layers = layersOf(bug, tree.root, imports);
    const noticing = layers.find(({ name, files }) => name === 'unit' && files.includes(suspect));
    if (noticing !== undefined) layers.unshift({ ...noticing, files: [suspect] });
    for (const layer of layers) {
      const verdict = await run(layer, tree, baseline, concurrency);
      if (verdict.kind === 'passed') continue;
      fate =
        verdict.kind === 'hung'
          ? { kind: 'hung', layer: layer.name }
          : {
              kind: 'caught',
              layer: layer.name,
              by: verdict.what,
              file: relative(tree.root, verdict.where),
            };
      break;
    }
    tree.write(bug.file, sound);
  }
  return { bug, fate, seconds: (performance.now() - started) / 1000 };
}

function testOf(file: string): string {
  return file.replace(/\.ts$/, '.test.ts');
}

function run(
  layer: Layer,
  tree: ScratchTree,
  baseline: Baseline,
  concurrency: number,
): Promise<Verdict> {
  const usual = baseline.get(layer.group) ?? 0;
  return boundedRun(commandOf(layer, tree, concurrency), 30 + 3 * usual);
}
