/**
 * This node's own record: takes its place with it, defends it, and finds out when two processes claim one id or address.
 *
 * Others may say of this node that it is suspect, down or out of the ring; a higher incarnation or place contradicts them.
 * But a record of its id that comes from another run is either an earlier life of this node or a rival. So it asks at the
 * addresses where a rival would be: a rival answers, an earlier life can't. Whoever asked and was answered gives way: that
 * is the newcomer while it joins, and of two that met later the one whose record comes first (compareLife).
 *
 * A ping to its own address must come back to this very process, or get lost; when another answers, that other is who the
 * cluster would find there.
 */
import type { Conflict } from './effects.ts';
import {
  compareLife,
  comparePlace,
  isRunning,
  isPlaced,
  renewedPlace,
  vacatedPlace,
  type MemberRecord,
} from './member-record.ts';
import type { Packet } from './packet.ts';
import type { MembershipParts } from './parts.ts';
import { isMember } from './self.ts';

/** Questions to a possible rival before it is taken not to be there. */
const attempts = 3;

export class Identity {
  readonly #parts: MembershipParts;
  /** Sequences of the pings to this node's own address and to the rival's. */
  readonly #ownSequence: number;
  readonly #rivalSequence: number;
  #rivalAddress = '';
  /** What was said in this node's name by another run, while it has time to show itself. */
  #contested: MemberRecord | null = null;
  /** The last rival that was reported, so that each is reported once. */
  #reportedRun = -1;
  #isAddressMine = false;
  /** While a rival has time to show itself: when the next ping goes out, and when it has had its time. */
  #nextPingAt = Infinity;
  #claimEnd = Infinity;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
    this.#ownSequence = parts.prng.u32();
    this.#rivalSequence = parts.prng.u32();
  }

  get deadline(): number {
    return Math.min(this.#nextPingAt, this.#claimEnd);
  }

  /** Begins to look for others at this node's own address. */
  start(now: number): void {
    this.#nextPingAt = now;
    this.#ping(now);
  }

  /** The cluster is known: nothing is in the way of this node's place but a rival, who has a while to show itself. */
  claim(now: number): void {
    const { self, table, timing } = this.#parts;
    const known = table.find(self.nodeId)?.record;
    const isElsewhere = known !== undefined && isRunning(known) && known.address !== self.address;
    if (!isElsewhere && this.#isAddressMine) this.#claimEnd = now;
    else this.#ask(now, isElsewhere ? known.address : '', timing.claimMs);
  }

  /** True once a claim's time is over and nobody showed up. */
  onTick(now: number): boolean {
    if (now >= this.#claimEnd) {
      this.#nextPingAt = Infinity;
      this.#claimEnd = Infinity;
      this.#rivalAddress = '';
      return true;
    }
    if (now >= this.#nextPingAt) this.#ping(now);
    return false;
  }

  stop(): void {
    this.#nextPingAt = Infinity;
    this.#claimEnd = Infinity;
  }

  /** Takes the place: a life above all that is known of this id, and the place that it had, if any. */
  establish(): void {
    const { self, table } = this.#parts;
    const { nodeId, weight, address, run } = self;
    const known = table.find(nodeId)?.record;
    const incarnation = (known?.incarnation ?? 0) + 1;
    const isSame = known?.weight === weight && known.address === address && isPlaced(known);
    const place = known === undefined ? 1 : isSame ? known.place : renewedPlace(known.place);
    table.set({ nodeId, incarnation, status: 'alive', run, place, weight, address });
  }

  /** One of this node's own packets came back. */
  onOwnPacket(now: number): void {
    this.#isAddressMine = true;
    // Whoever waits only for this needs to wait no longer.
    if (this.#claimEnd < Infinity && this.#rivalAddress === '') this.#claimEnd = now;
  }

  /** A packet from somebody who may claim what this node has. The other one finds out by itself, and gives way. */
  watch(from: string, packet: Packet): void {
    const { self, table } = this.#parts;
    if (!isMember(self)) return;
    if (packet.sender === self.nodeId) {
      const theirs = packet.isMember ? packet.updates[0] : undefined;
      const mine = table.find(self.nodeId)!.record;
      // A record that wins over this node's is dealt with in `onOwnRecord`, and may end the other way.
      const losesToMine = theirs === undefined || compareLife(theirs, mine) < 0;
      if (losesToMine) this.#reportOnce('id', from, packet);
    } else if (packet.kind === 'claim') {
      this.#reportOnce('address', from, packet);
    }
  }

  /** An answer to one of the pings here. True when this node gave way. */
  onAck(from: string, packet: Packet): boolean {
    const { self, effects } = this.#parts;
    const isSameId = packet.sender === self.nodeId;
    const isAtMine = packet.sequence === this.#ownSequence;
    const isRival = packet.sequence === this.#rivalSequence && isSameId;
    if (!isAtMine && !isRival) return false;
    if (this.#nextPingAt === Infinity || self.phase === 'stopped') return false;
    self.phase = 'stopped';
    const about = isSameId ? 'id' : 'address';
    effects.conflict({ about, givesWay: true, rivalId: packet.sender, rivalAddress: from });
    return true;
  }

  /** Somebody passed on a record of this node. */
  onOwnRecord(now: number, told: MemberRecord): void {
    const { self, table, counters, timing } = this.#parts;
    const mine = table.find(self.nodeId)!.record;
    if (compareLife(told, mine) <= 0 && comparePlace(told, mine) <= 0) return;
    if (this.#claimEnd < Infinity) return;
    if (compareLife(told, mine) > 0 && told.run !== self.run && isRunning(told)) {
      this.#contested = told;
      this.#ask(now, told.address === self.address ? '' : told.address, timing.claimMs);
      return;
    }
    counters.refutations += 1;
    this.#raiseAbove(told);
  }

  /** No rival answered: what is said in this node's name, by whatever run, was said by an earlier one. */
  reassert(): void {
    if (this.#contested !== null) this.#raiseAbove(this.#contested);
    this.#contested = null;
  }

  #raiseAbove(told: MemberRecord): void {
    const { self, table } = this.#parts;
    const { nodeId, weight, address, run } = self;
    const mine = table.find(nodeId)!.record;
    const isContradicted = compareLife(told, mine) > 0;
    const incarnation = isContradicted ? told.incarnation + 1 : mine.incarnation;
    let place = mine.place;
    if (comparePlace(told, mine) > 0) {
      place = self.phase === 'leaving' ? vacatedPlace(told.place) : renewedPlace(told.place);
    }
    table.set({ nodeId, incarnation, status: 'alive', run, place, weight, address });
  }

  #ask(now: number, rivalAddress: string, forMs: number): void {
    this.#rivalAddress = rivalAddress;
    this.#claimEnd = now + forMs;
    this.#ping(now);
  }

  #ping(now: number): void {
    const { self, mail, timing } = this.#parts;
    this.#nextPingAt = now + Math.floor(timing.claimMs / attempts);
    mail.send(self.address, 'claim', this.#ownSequence, self.nodeId, -1);
    if (this.#rivalAddress !== '') {
      mail.send(this.#rivalAddress, 'ping', this.#rivalSequence, self.nodeId, -1);
    }
  }

  #reportOnce(about: Conflict['about'], from: string, packet: Packet): void {
    if (this.#reportedRun === packet.run) return;
    this.#reportedRun = packet.run;
    const { effects } = this.#parts;
    effects.conflict({ about, givesWay: false, rivalId: packet.sender, rivalAddress: from });
  }
}
