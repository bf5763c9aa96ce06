/** Which block a slot was reserved for, and whose it is by the ring: what the history keeps of an admission. */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { Layout } from '@s3-accelerator/core/layout.ts';
import type { PolicyOf } from '@s3-accelerator/core/node/policy.ts';
import { candidates, placeBlock } from '@s3-accelerator/core/placement.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import { newBlockPlace } from '@s3-accelerator/core/store/block-place.ts';
import type { SlotId, Store } from '@s3-accelerator/core/store/store.ts';
import type { Admission } from '../history/block-event.ts';
import type { Surroundings } from './surroundings.ts';

/** As many nodes as a gateway asks, one after the other, when those before fail. */
const maxCandidates = 4;

export interface Admitting {
  readonly world: Surroundings;
  readonly layout: Layout;
  readonly ring: Ring;
  readonly policyOf: PolicyOf;
  readonly nodeId: number;
  readonly life: number;
}

/** A node's store has reserved the slot and its block is about to be written. */
export function admissionOf(admitting: Admitting, store: Store, slot: SlotId): Admission {
  const { world, layout, ring, policyOf, nodeId, life } = admitting;
  const place = newBlockPlace();
  store.describe(slot, place);
  const named = world.identities.named(place.version);
  assert(named !== null, 'a block that is stored has an identity');
  const { bucket, key, etag } = named;
  const version = world.origin.oracle.history(bucket, key).find((state) => state.etag === etag);
  assert(version !== undefined, 'a block that is stored is of a version that was');
  const placement = { hi: 0, lo: 0 };
  placeBlock(layout, world.identities.hashOf(bucket, key), version.size, place.block, placement);
  const ranked: number[] = [];
  candidates(ring, placement, maxCandidates, ranked);
  const rank = ranked.indexOf(nodeId);
  return {
    node: nodeId,
    life,
    at: world.queue.now,
    block: { bucket, key, etag, index: place.block },
    admitsOnFirstRead: policyOf(bucket).admitOnFirstRead,
    as: rank === 0 ? 'owner' : rank > 0 ? 'stand-in' : 'other',
    isAtOnce: false,
  };
}
