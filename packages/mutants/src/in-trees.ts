/** Several trees share a list of work. */
import type { ScratchTree } from './scratch-tree.ts';

/** Works through a list, one item a tree at a time. */
export async function inTrees<T>(
  trees: readonly ScratchTree[],
  items: readonly T[],
  work: (tree: ScratchTree, item: T) => Promise<void>,
): Promise<void> {
  const rest = [...items];
  await Promise.all(
    trees.map(async (tree) => {
      for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(tree, item);
    }),
  );
}
