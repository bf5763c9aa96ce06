/**
 * What a node tells others, as its driver carries it out: over the links that it asks them by, in order, and lost with the link.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { NodeEffects } from '@s3-accelerator/core/node/effects.ts';
import type { NodeMessage } from '@s3-accelerator/core/node-message.ts';
import { placementName } from './held-placements.ts';
import { newLane, type Lane } from './network.ts';
import type { PeerFetches } from './peer-fetches.ts';
import type { Surroundings } from './surroundings.ts';

export class NodeMessages implements Pick<NodeEffects, 'sendToNode'> {
  readonly #world: Surroundings;
  readonly #peers: PeerFetches;
  readonly #life: number;
  readonly #lanes = new Map<number, Lane>();

  constructor(world: Surroundings, peers: PeerFetches, life: number) {
    this.#world = world;
    this.#peers = peers;
    this.#life = life;
  }

  sendToNode(nodeId: number, message: NodeMessage): void {
    assert(nodeId !== message.from, 'a node tells itself nothing');
    const copy = { ...message, placement: { ...message.placement }, hash: { ...message.hash } };
    let lane = this.#lanes.get(nodeId);
    if (lane === undefined) {
      lane = newLane();
      this.#lanes.set(nodeId, lane);
    }
    if (message.kind === 'lease') this.#noteGrant(nodeId, message);
    const { link, run } = this.#peers.linkTo(nodeId);
    this.#world.network.toNode(link, lane, () => {
      run?.hear(copy);
    });
  }

  #noteGrant(holder: number, { from: owner, placement, turn, leaseMs }: NodeMessage): void {
    const { checkers, queue } = this.#world;
    const name = placementName(placement);
    const life = this.#life;
    checkers.leaseGranted({ owner, life, holder, turn, placement: name, at: queue.now, leaseMs });
  }
}
