/** What must not go unseen although nobody reads it: wrong bytes that a node would serve. */
import { throws } from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeHost } from '../world/node-host.ts';
import { BLOCK, tell } from './story.ts';

const endings: readonly [how: string, end: (node: NodeHost) => void][] = [
  [
    'loses its power',
    (node) => {
      node.crash(0.5);
    },
  ],
  [
    'is killed',
    (node) => {
      node.kill();
    },
  ],
  [
    'is stopped',
    (node) => {
      node.stop();
    },
  ],
];

for (const [how, end] of endings) {
  // After the first two the next life compares the block, drops it, and no trace of the mistake is left.
  test(`wrong bytes in a node's store are seen when the node ${how}`, () => {
    const plot = (): void => {
      tell({}, (story) => {
        story.put('a/table', BLOCK, 'builds');
        story.get('a/table', { bucket: 'builds' });
        story.settle();
        const node = story.world.nodes[0]!;
        const { slab } = node.files;
        const at = slab.seen.findLastIndex((byte) => byte !== 0);
        slab.seen[at]! ^= 1;
        story.restart(node, end);
      });
    };
    throws(plot, /stored-blocks: .*byte \d+ of block 0 of builds\/a\/table .* is wrong/);
  });
}
