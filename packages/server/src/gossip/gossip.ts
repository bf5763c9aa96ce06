/**
 * Runs core/membership over a gossip socket and a timer.
 *
 * Effects that concern the program are queued and told after the event that caused them (`GossipEvents`), so that
 * whoever hears of a new ring may ask anything here.
 */
import { randomBytes } from 'node:crypto';
import { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { MembershipCounters } from '@s3-accelerator/core/membership/counters.ts';
import type { Conflict, MembershipEffects } from '@s3-accelerator/core/membership/effects.ts';
import { Membership } from '@s3-accelerator/core/membership/membership.ts';
import type { MemberRecord, MemberStatus } from '@s3-accelerator/core/membership/member-record.ts';
import type { Packet } from '@s3-accelerator/core/membership/packet.ts';
import type { MembershipTiming } from '@s3-accelerator/core/membership/timing.ts';
import type { Member, Ring } from '@s3-accelerator/core/ring.ts';
import type { Log } from '../log.ts';
import type { GossipSocket } from './gossip-socket.ts';

export interface GossipEvents {
  /** The node has its place. `founded`: no member answered, so it began a cluster of the configured nodes. */
  joined(founded: boolean): void;
  /** A newer ring; the first one comes once the node has joined. */
  ringChanged(ring: Ring): void;
  /** A member came, or fares otherwise than before. */
  memberChanged(record: MemberRecord): void;
  /** Another process has this node's id or address: this one must stop. */
  mustStop(conflict: Conflict): void;
}

export interface GossipOptions {
  readonly socket: GossipSocket;
  /** This node, with the address at which the others reach the socket. */
  readonly self: Member;
  /** The nodes that the configuration names. */
  readonly seeds: readonly Member[];
  readonly timing?: MembershipTiming;
  readonly events: GossipEvents;
  readonly log: Log;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

export class Gossip implements MembershipEffects {
  readonly #options: GossipOptions;
  readonly #membership: Membership;
  readonly #told: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Begins to join. */
  constructor(options: GossipOptions) {
    const { self, seeds, timing } = options;
    this.#options = options;
    const seed = randomBytes(8);
    this.#membership = new Membership({
      effects: this,
      self,
      seeds,
      prng: new Prng(seed.readInt32LE(0), seed.readInt32LE(4)),
      ...(timing === undefined ? {} : { timing }),
    });
    options.socket.onPacket = (from, packet) => {
      this.#act((now) => {
        this.#membership.onPacket(now, from, packet);
      });
    };
    this.#act((now) => {
      this.#membership.onStart(now);
    });
  }

  get counters(): Readonly<MembershipCounters> {
    return this.#membership.counters;
  }

  /** Null before the node has joined. */
  get ring(): Ring | null {
    return this.#membership.ring;
  }

  statusOf(nodeId: number): MemberStatus | null {
    return this.#membership.statusOf(nodeId);
  }

  records(): MemberRecord[] {
    return this.#membership.records();
  }

  /** Somebody holds a ring of this version. */
  versionSeen(version: number): void {
    this.#act((now) => {
      this.#membership.onVersionSeen(now, version);
    });
  }

  /** Gives the place in the ring up; the node goes on answering. */
  leave(): void {
    this.#act((now) => {
      this.#membership.onLeave(now);
    });
  }

  /** Says farewell and closes the socket. */
  async stop(): Promise<void> {
    this.#act((now) => {
      this.#membership.onFarewell(now);
    });
    clearTimeout(this.#timer);
    await this.#options.socket.close();
  }

  // Effects

  send(address: string, packet: Packet): void {
    this.#options.socket.send(address, packet);
  }

  joined(founded: boolean): void {
    const { log, self, seeds, events } = this.#options;
    const nodes = seeds.length;
    const how = founded
      ? 'no member answered: began with the configured nodes'
      : 'joined the cluster';
    log.info({ nodeId: self.nodeId, address: self.address, nodes }, how);
    this.#told.push(() => {
      events.joined(founded);
    });
  }

  ringChanged(ring: Ring): void {
    const { log, events } = this.#options;
    const members = ring.members.map(({ nodeId }) => nodeId);
    log.info({ version: ring.version, members }, 'the ring has changed');
    this.#told.push(() => {
      events.ringChanged(ring);
    });
  }

  memberChanged(record: MemberRecord): void {
    const { log, events } = this.#options;
    const { nodeId, address, status } = record;
    log.info({ nodeId, address, status }, 'a member has changed');
    this.#told.push(() => {
      events.memberChanged(record);
    });
  }

  conflict(conflict: Conflict): void {
    const { log, events, self } = this.#options;
    const { about, givesWay, rivalId, rivalAddress } = conflict;
    const fields = { nodeId: self.nodeId, address: self.address, rivalId, rivalAddress };
    const what = about === 'id' ? `node id ${self.nodeId}` : `address ${self.address}`;
    if (!givesWay) {
      log.error(
        fields,
        `another process claims ${what} of this node: it gives way; mend its configuration`,
      );
      return;
    }
    log.error(
      fields,
      `${what} belongs to a node that runs already: this one gives way; mend node.id or cluster.nodes here`,
    );
    this.#told.push(() => {
      events.mustStop(conflict);
    });
  }

  #act(event: (now: number) => void): void {
    const { now } = this.#options;
    event(now());
    clearTimeout(this.#timer);
    const deadline = this.#membership.nextDeadline();
    if (deadline < Infinity) {
      this.#timer = setTimeout(
        () => {
          this.#act((then) => {
            this.#membership.onTick(then);
          });
        },
        Math.max(0, Math.ceil(deadline - now())),
      );
    }
    for (const tell of this.#told.splice(0)) tell();
  }
}
