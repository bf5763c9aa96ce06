/** The layers without a bug: what fails by itself can't tell anything, and how long each takes bounds how long it may. */
import { boundedRun } from './bounded-run.ts';
import type { Baseline } from './hunt.ts';
import { inTrees } from './in-trees.ts';
import { commandOf, layersOf, type Layer } from './layers.ts';
import type { PlantedBug } from './planted-bug.ts';
import type { ScratchTree } from './scratch-tree.ts';

/** No layer takes as long. */
const limitSeconds = 600;

/** Runs every layer that the bugs go through, and says how it went; null when one of them fails. */
export async function soundLayers(
  trees: readonly ScratchTree[],
  bugs: readonly PlantedBug[],
  concurrency: number,
): Promise<Baseline | null> {
  const layers = new Map<string, Layer>();
  for (const bug of bugs) {
    for (const layer of layersOf(bug, trees[0]!.root)) layers.set(layer.key, layer);
  }
  const baseline = new Map<string, number>();
  const failures: string[] = [];
  await inTrees(trees, [...layers.values()], async (tree, layer) => {
    const { kind, what, seconds, tail } = await boundedRun(
      commandOf(layer, tree, concurrency),
      limitSeconds,
    );
    baseline.set(layer.key, seconds);
    const name = `${layer.name}: ${layer.files.length} files from ${layer.files[0] ?? ''} on`;
    console.log(`without a bug, ${name}: ${kind} in ${seconds.toFixed(1)} s`);
    if (kind !== 'passed') failures.push(`${name} ${kind} without any bug: ${what}\n${tail}`);
  });
  for (const failure of failures) console.error(failure);
  return failures.length === 0 ? baseline : null;
}
