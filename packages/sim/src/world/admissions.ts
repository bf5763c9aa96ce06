/** Which block a slot was reserved for, and whose it is by the ring: what the history keeps of an admission. */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { Layout } from '@s3-accelerator/core/layout.ts';
import type { PolicyOf } from '@s3-accelerator/core/node/policy.ts';
import { ownerIndex, placeBlock, type Placement } from '@s3-accelerator/core/placement.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import { newBlockPlace } from '@s3-accelerator/core/store/block-place.ts';
import type { SlotId, Store } from '@s3-accelerator/core/store/store.ts';
import type { Admission } from '../history/block-event.ts';
import type { NamedVersion } from './identity.ts';
import type { NodeCluster } from './node-cluster.ts';
import type { PeerFetches } from './peer-fetches.ts';
import type { Surroundings } from './surroundings.ts';

export interface Admitting {
  readonly world: Surroundings;
  readonly layout: Layout;
  readonly cluster: NodeCluster;
  readonly fetches: PeerFetches;
  /** When the lease of a placement is over, -Infinity without one. */
  readonly lentUntil: (placement: Readonly<Placement>) => number;
  readonly policyOf: PolicyOf;
  readonly nodeId: number;
  readonly life: number;
}

/** A node's store has reserved the slot and its block is about to be written. */
export function admissionOf(admitting: Admitting, store: Store, slot: SlotId): Admission {
  const { world, layout, cluster, fetches, policyOf, nodeId, life } = admitting;
  const place = newBlockPlace();
  store.describe(slot, place);
  const named = world.identities.named(place.version);
  assert(named !== null, 'a block that is stored has an identity');
  const { bucket, key, etag } = named;
  const version = world.origin.oracle.history(bucket, key).find((state) => state.etag === etag);
  assert(version !== undefined, 'a block that is stored is of a version that was');
  const placement = { hi: 0, lo: 0 };
  placeBlock(layout, world.identities.hashOf(bucket, key), version.size, place.block, placement);
  // What is under way keeps to the ring by which it was begun.
  const isOwner = cluster.lately.some((ring) => ownsIn(ring, placement, nodeId));
  const lentUntil = admitting.lentUntil(placement);
  const isLent = lentUntil > world.queue.now;
  return {
    node: nodeId,
    life,
    at: world.queue.now,
    block: { bucket, key, etag, index: place.block },
    admitsOnFirstRead: policyOf(bucket).admitOnFirstRead,
    as: isOwner ? 'owner' : isLent ? 'replica' : roleOf(admitting, named, lentUntil),
    lentUntil,
    isAtOnce: fetches.hasBrought(place.version, layout.blockStart(place.block)),
  };
}

/** Of a node that neither owns a block nor holds a lease of it right now. */
function roleOf(admitting: Admitting, named: NamedVersion, lentUntil: number): Admission['as'] {
  if (wasToStandIn(admitting, named)) return 'stand-in';
  return lentUntil > -Infinity ? 'replica' : 'other';
}

function ownsIn(ring: Ring, { hi, lo }: Readonly<Placement>, nodeId: number): boolean {
  return ring.members[ownerIndex(ring, hi, lo)]?.nodeId === nodeId;
}

/** Whether a gateway wanted this node to store something of the object in place of its owner. */
function wasToStandIn({ world, nodeId, life }: Admitting, { bucket, key }: NamedVersion): boolean {
  const { nodeReads } = world.history.of(bucket, key);
  return nodeReads.some(
    ({ standsIn, ...by }) => standsIn && by.node === nodeId && by.life === life,
  );
}
