/**
 * A gateway's part in the cluster, as the program has it: the ring of its process, which it follows where no node in that process does,
 * and whom it asks by it.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';
import type { Layout } from '@s3-accelerator/core/layout.ts';
import {
  candidates,
  placeBlock,
  placeHome,
  type Placement,
} from '@s3-accelerator/core/placement.ts';
import type { ReadRequest } from '@s3-accelerator/core/read.ts';
import type { DatedRing } from '@s3-accelerator/core/ring-history.ts';
import type { Ring } from '@s3-accelerator/core/ring.ts';
import type { NodeHost } from './node-host.ts';
import type { ProcessClock } from './process-clock.ts';
import { ProcessRing } from './process-ring.ts';
import type { ReadTransfers } from './read-transfers.ts';
import { RingFollower } from './ring-follower.ts';
import type { RingAsker } from './ring-questions.ts';
import type { Surroundings } from './surroundings.ts';

/** As many nodes as are asked one after the other, when those before failed or can't be reached. */
const maxCandidates = 4;

export interface GatewayClusterOptions {
  readonly world: Surroundings;
  readonly clock: ProcessClock;
  readonly layout: Layout;
  /** The node in the same process, null for none. */
  readonly beside: NodeHost | null;
  /** Node ids that the configuration names. */
  readonly named: readonly number[];
  /** How long rings that were replaced are kept. */
  readonly windowMs: number;
}

export class GatewayCluster implements RingAsker {
  readonly ring: ProcessRing;
  /** Whether nobody else in the process sees to the ring. */
  readonly isFollowed: boolean;
  readonly #options: GatewayClusterOptions;
  readonly #placement: Placement = { hi: 0, lo: 0 };
  readonly #ranked: number[] = [];
  #follower: RingFollower | null = null;

  constructor(options: GatewayClusterOptions) {
    const { beside, clock, windowMs } = options;
    this.#options = options;
    this.isFollowed = beside === null;
    if (beside === null) {
      this.ring = new ProcessRing(windowMs, () => clock.now);
    } else {
      assert(beside.run !== null, 'the node of a process starts before its gateway');
      this.ring = beside.run.cluster.ring;
    }
  }

  /** Whether it knows where to ask: before that no load balancer sends clients here. */
  get isReady(): boolean {
    return this.version() > 0;
  }

  /** Sets out to find the ring, and keeps links to its members. `onRing` is called with each newer one. */
  follow(transfers: ReadTransfers, onRing: (ring: Ring) => void): void {
    const { world, named } = this.#options;
    const setMembers = (nodeIds: readonly number[]): void => {
      transfers.setMembers(nodeIds);
    };
    if (this.isFollowed) {
      const reachesAny = (): boolean => transfers.reachesAny();
      const { queue } = world;
      this.#follower = new RingFollower({ queue, ring: this.ring, named, setMembers, reachesAny });
    } else {
      this.ring.onChange(({ members }) => {
        setMembers(members.map(({ nodeId }) => nodeId));
      });
    }
    this.ring.onChange(onRing);
  }

  stop(): void {
    this.#follower?.stop();
  }

  version(): number {
    return this.ring.version;
  }

  held(): number {
    return this.ring.version;
  }

  adopt(rings: readonly DatedRing[]): void {
    this.ring.adopt(rings);
  }

  askedAgain(): void {
    this.#options.world.situations.arose('ring fetched again');
  }

  /** The node that keeps an object's metadata, and those that would be asked after it; good until the next call. */
  homesOf(hash: Readonly<Hash128>): readonly number[] {
    placeHome(hash, this.#placement);
    return this.#rank();
  }

  /** The owner of what a read asks for, and the candidates after it; good until the next call. */
  ownersOf({ kind, hash, size, first }: ReadRequest): readonly number[] {
    if (kind === 'lookup') return this.homesOf(hash);
    const { layout } = this.#options;
    placeBlock(layout, hash, size, layout.blockOf(first), this.#placement);
    return this.#rank();
  }

  #rank(): readonly number[] {
    const count = candidates(this.ring.current, this.#placement, maxCandidates, this.#ranked);
    this.#ranked.length = count;
    return this.#ranked;
  }
}
