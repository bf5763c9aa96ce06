/**
 * A small deterministic network: memberships on one clock, datagrams that are late, lost or cut off as a test likes.
 *
 * A datagram belongs to the address that it is sent to, whoever listens there by then.
 */
import { assert } from '../../base/assert.ts';
import { Prng } from '../../base/prng.ts';
import type { Member, Ring } from '../../ring.ts';
import { EventQueue } from '../../testing/event-queue.ts';
import type { Conflict, MembershipEffects } from '../effects.ts';
import { Membership } from '../membership.ts';
import { recordBytes, type MemberRecord } from '../member-record.ts';
import { maxDatagramBytes, packetFixedBytes, type Packet } from '../packet.ts';
import { defaultTiming, type MembershipTiming } from '../timing.ts';

/** One life of one process. */
export class TestMember implements MembershipEffects {
  readonly network: TestNetwork;
  readonly nodeId: number;
  /** Where it really listens. */
  readonly address: string;
  /** Whom its configuration names. */
  readonly seeds: readonly Member[];
  readonly membership: Membership;
  readonly rings: Ring[] = [];
  readonly changes: MemberRecord[] = [];
  readonly conflicts: Conflict[] = [];
  isRunning = true;
  /** While it stands still, nothing reaches it and no timer fires. */
  isFrozen = false;
  founded: boolean | null = null;
  #tick = 0;

  constructor(network: TestNetwork, self: Member, listensAt: string, seeds: readonly Member[]) {
    this.network = network;
    this.nodeId = self.nodeId;
    this.address = listensAt;
    this.seeds = seeds;
    const { prng, timing } = network;
    const own = new Prng(prng.u32(), prng.u32());
    this.membership = new Membership({ effects: this, self, seeds, prng: own, timing });
  }

  get ring(): Ring | null {
    return this.membership.ring;
  }

  send(address: string, packet: Packet): void {
    this.network.carry(this, address, packet);
  }

  joined(founded: boolean): void {
    this.founded = founded;
  }

  ringChanged(ring: Ring): void {
    const last = this.rings.at(-1);
    assert(last === undefined || ring.version > last.version, 'rings are published in order');
    this.rings.push(ring);
  }

  memberChanged(record: MemberRecord): void {
    this.changes.push(record);
  }

  conflict(conflict: Conflict): void {
    this.conflicts.push(conflict);
  }

  /** Lets something happen to it now; its next tick is planned anew. */
  act(event: (membership: Membership, now: number) => void): void {
    event(this.membership, this.network.queue.now);
    this.#plan();
  }

  #plan(): void {
    const { queue } = this.network;
    this.#tick += 1;
    const tick = this.#tick;
    const deadline = this.membership.nextDeadline();
    if (deadline === Infinity) return;
    queue.at(Math.max(queue.now, deadline), () => {
      if (tick !== this.#tick || !this.isRunning || this.isFrozen) return;
      this.act((membership, now) => {
        membership.onTick(now);
      });
    });
  }
}

export class TestNetwork {
  readonly queue = new EventQueue();
  readonly prng: Prng;
  readonly timing: MembershipTiming;
  /** All lives, ended ones too. */
  readonly lives: TestMember[] = [];
  /** Chance of a datagram to get lost. */
  loss = 0;
  /** Whether nothing gets from one address to the other. */
  isCut: (from: string, to: string) => boolean = () => false;
  bytes = 0;
  datagrams = 0;
  largest = 0;
  readonly #listeners = new Map<string, TestMember>();

  constructor(seed: number, timing: Partial<MembershipTiming> = {}) {
    this.prng = new Prng(seed, 5);
    this.timing = { ...defaultTiming, ...timing };
  }

  /** Those that run now. */
  get running(): TestMember[] {
    return this.lives.filter((life) => life.isRunning);
  }

  /** Starts a process that is configured as `self`; it may really listen elsewhere. */
  start(self: Member, seeds: readonly Member[], listensAt = self.address): TestMember {
    assert(!this.#listeners.has(listensAt), 'an address has one listener');
    const member = new TestMember(this, self, listensAt, seeds);
    this.lives.push(member);
    this.#listeners.set(listensAt, member);
    member.act((membership, now) => {
      membership.onStart(now);
    });
    return member;
  }

  /** Ends a process without a word. */
  kill(member: TestMember): void {
    member.isRunning = false;
    this.#listeners.delete(member.address);
  }

  /** Ends a process the way SIGTERM does. */
  stop(member: TestMember): void {
    member.act((membership, now) => {
      membership.onFarewell(now);
    });
    this.kill(member);
  }

  carry(from: TestMember, address: string, packet: Packet): void {
    const size = packet.updates.reduce((sum, one) => sum + recordBytes(one), packetFixedBytes);
    assert(size <= maxDatagramBytes, 'a packet fits a datagram');
    this.bytes += size;
    this.datagrams += 1;
    this.largest = Math.max(this.largest, size);
    if (this.prng.chance(this.loss) || this.isCut(from.address, address)) return;
    const copy = { ...packet };
    this.queue.in(0.1 + this.prng.fraction() * 2, () => {
      const to = this.#listeners.get(address);
      if (to === undefined || to.isFrozen) return;
      to.act((membership, now) => {
        membership.onPacket(now, from.address, copy);
      });
    });
  }

  /** Lets time pass. */
  run(ms: number): void {
    const end = this.queue.now + ms;
    while (this.queue.next <= end) this.queue.step();
    this.queue.at(end, () => undefined);
    this.queue.step();
  }

  /** Lets time pass until the condition holds; says how long it took, -1 when it didn't within `atMost`. */
  until(atMost: number, holds: () => boolean): number {
    const start = this.queue.now;
    while (this.queue.now < start + atMost) {
      if (holds()) return this.queue.now - start;
      this.run(20);
    }
    return holds() ? this.queue.now - start : -1;
  }

  /** Whether all that run have published the same ring, of exactly these nodes. */
  agreeOn(nodeIds: readonly number[]): boolean {
    const wanted = nodeIds.toSorted((a, b) => a - b).join();
    const version = this.running[0]?.ring?.version;
    return this.running.every(
      ({ ring }) =>
        ring?.version === version && ring?.members.map(({ nodeId }) => nodeId).join() === wanted,
    );
  }

  /** Whether every process that runs takes every other one for alive. */
  allAlive(): boolean {
    const ids = this.running.map(({ nodeId }) => nodeId);
    return this.running.every(({ membership }) =>
      ids.every((nodeId) => membership.statusOf(nodeId) === 'alive'),
    );
  }
}

/** The nodes 0 to count − 1 as a configuration names them. */
export function nodesOf(count: number): Member[] {
  return Array.from({ length: count }, (_, nodeId) => ({
    nodeId,
    weight: 1,
    address: `10.0.${nodeId >> 8}.${nodeId & 255}:9400`,
  }));
}

/** A cluster that started all at once from one configuration, and has settled. */
export function settledCluster(
  seed: number,
  count: number,
  timing: Partial<MembershipTiming> = {},
): TestNetwork {
  const network = new TestNetwork(seed, timing);
  const nodes = nodesOf(count);
  for (const node of nodes) network.start(node, nodes);
  const ids = nodes.map(({ nodeId }) => nodeId);
  const took = network.until(30_000, () => network.agreeOn(ids) && network.allAlive());
  assert(took >= 0, 'a fresh cluster settles');
  network.run(5000);
  return network;
}
