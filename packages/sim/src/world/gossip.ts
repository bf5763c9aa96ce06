/**
 * A node's gossip: runs core/membership over datagrams and a timer, as the program does over UDP.
 *
 * A datagram belongs to the address that it is sent to, whoever listens there by then. What membership tells is handed on after its
 * event, so that whoever hears of a ring may ask anything here.
 */
import { assert } from '@s3-accelerator/core/base/assert.ts';
import type { Prng } from '@s3-accelerator/core/base/prng.ts';
import type { Conflict, MembershipEffects } from '@s3-accelerator/core/membership/effects.ts';
import type { MemberRecord } from '@s3-accelerator/core/membership/member-record.ts';
import { Membership } from '@s3-accelerator/core/membership/membership.ts';
import type { Packet } from '@s3-accelerator/core/membership/packet.ts';
import type { MembershipTiming } from '@s3-accelerator/core/membership/timing.ts';
import type { Member, Ring } from '@s3-accelerator/core/ring.ts';
import type { Situations } from '../situations.ts';
import { traced, type Trace } from '../trace.ts';
import type { Datagrams } from './datagrams.ts';
import { membershipEffectNames } from './effect-names.ts';
import type { EventQueue } from './event-queue.ts';
import type { ProcessClock } from './process-clock.ts';
import { Ticker } from './ticker.ts';

/** Where packets arrive: whoever listens at an address by then, null for nobody. */
export interface GossipPlace {
  readonly place: number;
  readonly gossip: Gossip | null;
}

export interface GossipWorld {
  readonly queue: EventQueue;
  readonly trace: Trace;
  readonly situations: Situations;
  readonly datagrams: Datagrams;
  gossipLatenessMs(): number;
  placeOf(address: string): GossipPlace;
}

export interface GossipOptions {
  readonly world: GossipWorld;
  readonly clock: ProcessClock;
  readonly self: Member;
  readonly place: number;
  /** The nodes that the configuration names. */
  readonly seeds: readonly Member[];
  readonly timing: MembershipTiming;
  readonly prng: Prng;
  readonly onRing: (ring: Ring) => void;
}

export class Gossip implements MembershipEffects {
  readonly membership: Membership;
  readonly #options: GossipOptions;
  readonly #ticker: Ticker;
  #told: Ring | null = null;
  #isOver = false;

  constructor(options: GossipOptions) {
    const { world, clock, self, seeds, timing, prng } = options;
    const { queue, trace } = world;
    this.#options = options;
    const who = `node ${self.nodeId}`;
    const effects = traced<MembershipEffects>([this], membershipEffectNames, trace, who, queue);
    this.membership = new Membership({ effects, self, seeds, prng, timing });
    const machine = {
      nextDeadline: (): number => this.membership.nextDeadline(),
      onTick: (now: number): void => {
        this.membership.onTick(now);
        this.#tell();
      },
    };
    this.#ticker = new Ticker(queue, clock, machine, () => world.gossipLatenessMs());
  }

  /** Begins to join. */
  start(): void {
    this.#act((now) => {
      this.membership.onStart(now);
    });
  }

  /** Somebody holds a ring of this version. */
  versionSeen(version: number): void {
    this.#act((now) => {
      this.membership.onVersionSeen(now, version);
    });
  }

  /** Gives the place in the ring up; the node goes on answering. */
  leave(): void {
    this.#act((now) => {
      this.membership.onLeave(now);
    });
  }

  /** Says farewell. */
  stop(): void {
    this.#act((now) => {
      this.membership.onFarewell(now);
    });
  }

  /** The process is over, or nothing is left to be said: no word and no timer any more. */
  end(): void {
    this.#isOver = true;
    this.#ticker.stop();
  }

  receive(from: string, packet: Packet): void {
    this.#act((now) => {
      this.membership.onPacket(now, from, packet);
    });
  }

  // Effects

  send(address: string, packet: Packet): void {
    const { world, self, place } = this.#options;
    const copy = { ...packet };
    const fate = world.datagrams.send(place, world.placeOf(address).place, () => {
      world.placeOf(address).gossip?.receive(self.address, copy);
    });
    if (fate === 'lost') world.situations.arose('datagram lost');
    else if (fate === 'sent twice') world.situations.arose('datagram twice');
  }

  joined(founded: boolean): void {
    if (!founded) this.#options.world.situations.arose('node joined a running cluster');
  }

  ringChanged(ring: Ring): void {
    this.#told = ring;
  }

  memberChanged({ status }: MemberRecord): void {
    if (status === 'suspect') this.#options.world.situations.arose('member suspected');
    else if (status === 'down') this.#options.world.situations.arose('member down');
  }

  conflict(conflict: Conflict): void {
    assert(!conflict.givesWay, 'no two processes of a run share an id or an address');
  }

  #act(event: (now: number) => void): void {
    if (this.#isOver) return;
    event(this.#options.clock.now);
    this.#ticker.afterEvent();
    this.#tell();
  }

  #tell(): void {
    const ring = this.#told;
    this.#told = null;
    if (ring !== null) this.#options.onRing(ring);
  }
}
