/** Reads a .cpuprofile of V8 (`node --cpu-prof`): JavaScript alone, for machines without perf. The kernel's part is missing. */
import { basename } from 'node:path';
import { Stacks, type Frame } from './stacks.ts';

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** What V8 says of a thread that has nothing to do. */
const idle = new Set(['(idle)', '(program)', '(root)']);

export function stacksOfCpuProfile(text: string): Stacks {
  const { nodes, samples, timeDeltas } = JSON.parse(text) as CpuProfile;
  const parents = new Map<number, ProfileNode>();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const node of nodes) for (const child of node.children ?? []) parents.set(child, node);
  const stacks = new Stacks();
  for (const [index, id] of samples.entries()) {
    const leaf = byId.get(id);
    if (leaf === undefined || idle.has(leaf.callFrame.functionName)) continue;
    const frames: Frame[] = [];
    for (
      let node: ProfileNode | undefined = leaf;
      node !== undefined;
      node = parents.get(node.id)
    ) {
      if (!idle.has(node.callFrame.functionName)) frames.push(frameOf(node));
    }
    stacks.add(frames.reverse(), Math.max(0, timeDeltas[index] ?? 0));
  }
  return stacks;
}

function frameOf({ callFrame: { functionName, url, lineNumber } }: ProfileNode): Frame {
  const called = functionName === '' ? '(anonymous)' : functionName;
  const isOurs = url.startsWith('file:') || url.startsWith('/');
  return {
    name: url === '' ? called : `${called} ${basename(url)}:${lineNumber + 1}`,
    kind: isOurs ? 'typescript' : 'node',
  };
}
