/** The layers without a bug: what fails by itself can't tell anything, and how long each takes bounds how long it may. */
import { boundedRun } from './bounded-run.ts';
import type { Baseline } from './hunt.ts';
import type { Imports } from './imports.ts';
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
  imports: Imports,
  concurrency: number,
): Promise<Baseline | null> {
  const groups = new Map<string, Layer>();
  for (const bug of bugs) {
    for (const layer of layersOf(bug, trees[0]!.root, imports)) {
      const known = groups.get(layer.group);
      const files = [...new Set([...(known?.files ?? []), ...layer.files])];
      groups.set(layer.group, { ...layer, files });
    }
  }
  const baseline = new Map<string, number>();
  const failures: string[] = [];
  await inTrees(trees, [...groups.values()], async (tree, layer) => {
    const { group, files } = layer;
    const command = commandOf(layer, tree, concurrency);
    const { kind, what, seconds, tail } = await boundedRun(command, limitSeconds);
    baseline.set(group, seconds);
    console.log(
      `without a bug, ${group}: ${files.length} files ${kind} in ${seconds.toFixed(1)} s`,
    );
    if (kind !== 'passed') failures.push(`${group} ${kind} without any bug: ${what}\n${tail}`);
  });
  for (const failure of failures) console.error(failure);
  return failures.length === 0 ? baseline : null;
}
