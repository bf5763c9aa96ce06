/**
 * Who else holds a block that a node is about to read from S3: the previous owners, by the rings that the node knows, that run and have
 * it ready to be sent.
 */
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import type { Layout } from '@s3-accelerator/core/layout.ts';
import type { FetchRequest } from '@s3-accelerator/core/node/effects.ts';
import { ownerIndex, placeBlock } from '@s3-accelerator/core/placement.ts';
import { NO_SLOT, type Store } from '@s3-accelerator/core/store/store.ts';
import type { NodeCluster } from './node-cluster.ts';
import type { ProcessClock } from './process-clock.ts';
import type { Surroundings } from './surroundings.ts';

export interface Holding {
  readonly world: Surroundings;
  readonly clock: ProcessClock;
  readonly layout: Layout;
  readonly nodeId: number;
  readonly cluster: NodeCluster;
  readonly nodes: readonly { readonly run: { readonly store: Store } | null }[];
}

/** Node ids, for a request that names its version by If-Match. */
export function holdersOf(holding: Holding, request: FetchRequest): readonly number[] {
  const { world, clock, layout, nodeId, cluster, nodes } = holding;
  const { bucket, key, ifMatch, first } = request;
  const states = world.origin.oracle.history(bucket, key);
  const state = states.find(({ etag }) => etag === ifMatch);
  if (state === undefined) return [];
  const hash = { ...world.identities.hashOf(bucket, key) };
  const block = layout.blockOf(first);
  const placement = { hi: 0, lo: 0 };
  placeBlock(layout, hash, state.size, block, placement);
  const { history, current } = cluster.ring;
  const owner = current.members[ownerIndex(current, placement.hi, placement.lo)];
  if (owner?.nodeId !== nodeId) return [];
  const previous: number[] = [];
  const count = history.previousOwners(clock.now, placement, previous);
  const version: Hash128 = { h0: 0, h1: 0, h2: 0, h3: 0 };
  world.identities.version(bucket, hash, ifMatch, version);
  return previous.slice(0, count).filter((id) => {
    const store = nodes[id]!.run?.store;
    const slot = store?.find(version, block) ?? NO_SLOT;
    return slot !== NO_SLOT && store!.isTrusted(slot);
  });
}
