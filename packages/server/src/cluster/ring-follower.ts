/**
 * How a process without gossip finds the ring and keeps to it: a gateway beside no node.
 *
 * It knows the nodes that its configuration names, and asks any of them; links do the asking as they open, and again when a
 * node shows the mark of another ring (peers/multiplexed-link.ts). From the first ring on its members are the nodes that are
 * asked, and those named count only when none of them can be reached for a while: a cluster may have moved away altogether.
 */
import type { Member, Ring } from '@s3-accelerator/core/ring.ts';
import { formatAddress, parseAddress } from '../config/address.ts';
import type { FaultLog, Log } from '../log.ts';
import type { PeerAddress, Peers } from '../peers/peers.ts';
import type { ProcessRing } from './process-ring.ts';

/** How often a gateway without a ring tries the nodes that it knows by name; failed links have pauses of their own. */
const seekMs = 100;
/** After how long without any member the named nodes are asked instead, and for how long. */
const lostMs = 15_000;

export interface RingFollowerOptions {
  readonly ring: ProcessRing;
  readonly peers: Pick<Peers, 'setMembers' | 'reachesAny'>;
  /** The nodes that the configuration names. */
  readonly named: readonly PeerAddress[];
  readonly log: Log;
  readonly faults: FaultLog;
}

export class RingFollower {
  readonly #options: RingFollowerOptions;
  #nextSeekAt = 0;
  /** Since when no node of the ring could be reached; Infinity while one can. */
  #lostSince = Infinity;
  /** Until when the named nodes are asked in their place; Infinity while they aren't. */
  #turnsBackAt = Infinity;

  /** Sets out to ask the named nodes. */
  constructor(options: RingFollowerOptions) {
    this.#options = options;
    options.peers.setMembers(options.named);
    options.ring.onChange((ring) => {
      this.#follow(ring);
    });
  }

  /** null once there is a ring to place by, else why not. */
  notReady(): string | null {
    if (this.#options.ring.version > 0) return null;
    return `no ring yet: none of ${this.#namesOf()} has given one`;
  }

  /** Call it a few times a second. */
  tick(now: number): void {
    if (now < this.#nextSeekAt) return;
    this.#nextSeekAt = now + seekMs;
    const { ring, peers, faults } = this.#options;
    // Opens links where there are none, unless they have just failed.
    const reaches = peers.reachesAny();
    if (ring.version === 0) {
      if (!reaches) faults.warn('no-ring', `no ring yet: asking ${this.#namesOf()}`);
      return;
    }
    if (now >= this.#turnsBackAt) this.#askMembers(ring.current);
    else if (reaches) this.#lostSince = Infinity;
    else if (this.#lostSince === Infinity) this.#lostSince = now;
    else if (now - this.#lostSince > lostMs) this.#askNamed(now);
  }

  /** The nodes of the ring are gone, or so it seems: those that the configuration names may know more. */
  #askNamed(now: number): void {
    const { peers, named, faults } = this.#options;
    this.#lostSince = Infinity;
    this.#turnsBackAt = now + lostMs;
    faults.warn('ring-lost', `no node of the ring can be reached: asking ${this.#namesOf()}`);
    peers.setMembers(named);
  }

  #askMembers(ring: Ring): void {
    this.#lostSince = Infinity;
    this.#turnsBackAt = Infinity;
    this.#options.peers.setMembers(addressesOf(ring.members));
  }

  #follow(ring: Ring): void {
    const members = ring.members.map(({ nodeId }) => nodeId);
    this.#options.log.info({ version: ring.version, members }, 'places by a newer ring');
    this.#askMembers(ring);
  }

  #namesOf(): string {
    return this.#options.named.map(formatAddress).join(', ');
  }
}

/** Where the members of a ring listen for links; one whose address is none can't be reached. */
export function addressesOf(members: readonly Member[]): PeerAddress[] {
  return members.flatMap(({ nodeId, address }) => {
    const parsed = parseAddress(address);
    return parsed === undefined ? [] : [{ nodeId, ...parsed }];
  });
}
