/**
 * A node's part in the cluster, as the program has it: gossip brings the ring, the node places by it, those who have a link to the
 * node are told of it, and the other members are asked for what was before it.
 *
 * Of what others tell it takes only the rings that are older than its own: what it places by stays gossip's business.
 */
import type { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { MembershipTiming } from '@s3-accelerator/core/membership/timing.ts';
import type { DatedRing } from '@s3-accelerator/core/ring-history.ts';
import type { Member, Ring } from '@s3-accelerator/core/ring.ts';
import { Gossip, type GossipWorld } from './gossip.ts';
import type { Link, LinkEnd, Network } from './network.ts';
import type { ProcessClock } from './process-clock.ts';
import { ProcessRing } from './process-ring.ts';
import type { RingAsker, RingTeller } from './ring-questions.ts';

/** Longer than any fetch goes on. */
const latelyMs = 60_000;

export interface ClusterWorld extends GossipWorld {
  readonly network: Network;
}

export interface NodeClusterOptions {
  readonly world: ClusterWorld;
  readonly clock: ProcessClock;
  readonly self: Member;
  readonly place: number;
  /** The nodes that the configuration names. */
  readonly configured: readonly Member[];
  readonly timing: MembershipTiming;
  /** Another one in each life. */
  readonly prng: Prng;
  readonly windowMs: number;
  /** The node at its end of links. */
  readonly end: LinkEnd;
  /** The node is to place by this ring, knowing those that it replaced. */
  readonly onRing: (ring: Ring, replaced: readonly DatedRing[]) => void;
  /** The ring is another one by now. */
  readonly onChange: (ring: Ring) => void;
  /** Opens links to these, so that they can be asked. */
  readonly openLinks: (nodeIds: readonly number[]) => void;
}

export class NodeCluster implements RingTeller, RingAsker {
  readonly ring: ProcessRing;
  readonly gossip: Gossip;
  readonly #options: NodeClusterOptions;
  /** Rings that were replaced lately, with when that was (true time). */
  readonly #replaced: { readonly ring: Ring; readonly at: number }[] = [];
  #placesBy: Ring;
  /** When it learned of a ring last, true time. */
  learnedAt = 0;

  constructor(options: NodeClusterOptions) {
    const { clock, windowMs, configured } = options;
    this.#options = options;
    this.ring = new ProcessRing(windowMs, () => clock.now);
    this.#placesBy = this.ring.current;
    this.gossip = new Gossip({
      ...options,
      seeds: configured,
      onRing: (ring) => {
        this.ring.advance(ring);
      },
    });
    this.ring.onNewerSeen = (version) => {
      this.gossip.versionSeen(version);
    };
    this.ring.onChange(() => {
      this.#follow();
    });
  }

  /** Who has none is told all. */
  held(): number {
    return 0;
  }

  version(): number {
    return this.ring.version;
  }

  /** Whether the node has its place in the ring that it knows. */
  get isMember(): boolean {
    return this.ring.current.member(this.#options.self.nodeId) !== null;
  }

  /** The ring that the node places by, and those that something under way may still be of. */
  get lately(): readonly Ring[] {
    const since = this.#options.world.queue.now - latelyMs;
    const replaced = this.#replaced.filter(({ at }) => at > since).map(({ ring }) => ring);
    return [this.#placesBy, ...replaced];
  }

  tellRings(held: number): DatedRing[] {
    return this.ring.newerThan(held);
  }

  askedAgain(): void {
    // Nothing is made of it: gossip brings the ring itself.
  }

  adopt(rings: readonly DatedRing[]): void {
    if (!this.ring.adoptPast(rings)) return;
    this.#options.world.situations.arose('past learned from another node');
    this.#place();
  }

  #follow(): void {
    const { world, end, onChange, openLinks } = this.#options;
    const { version } = this.ring;
    this.#replaced.push({ ring: this.#placesBy, at: world.queue.now });
    this.#placesBy = this.ring.current;
    onChange(this.ring.current);
    this.#place();
    openLinks(this.#others());
    world.network.tellAskers(end, (asker: LinkEnd, link: Link) => {
      asker.onRingShown(link, version);
    });
  }

  #place(): void {
    this.learnedAt = this.#options.world.queue.now;
    this.#options.onRing(this.ring.current, this.ring.rings().slice(1));
  }

  /** Every member within the window but this node. */
  #others(): number[] {
    const others = new Set<number>();
    for (const { ring } of this.ring.rings()) {
      for (const { nodeId } of ring.members) others.add(nodeId);
    }
    others.delete(this.#options.self.nodeId);
    return [...others];
  }
}
