/**
 * Finds out who is there: one member in each period, in an order that is shuffled anew for each round, so that every member
 * is probed once in a round and a loss is noticed within two.
 *
 *     period begins ── ping ──▶ direct ── no ack for ackMs ──▶ relayed ── period ends ──▶ suspect
 *                                 └───────── ack ──────────────────┴──▶ answered
 *
 * Some others are asked to ping in this node's stead, and it asks once more itself, before it suspects anybody, so that the way between the two isn't taken
 * for the member. Members that are down are tried now and then: that is how two halves of a cluster find together again. So are nodes that the
 * configuration names and that aren't there as far as this one knows: one that left, or that nobody here ever heard of, may have begun a
 * cluster of its own while none of those that it names ran.
 */
import type { Member } from '../ring.ts';
import type { Packet } from './packet.ts';
import type { MembershipParts } from './parts.ts';
import { isMember } from './self.ts';
import type { Verdicts } from './verdicts.ts';

const maxRelays = 256;

/** A ping that this node sends for another. */
interface Relay {
  readonly sequence: number;
  readonly asker: string;
  readonly askerSequence: number;
  readonly subject: number;
  readonly until: number;
}

export class Prober {
  readonly #parts: MembershipParts;
  readonly #verdicts: Verdicts;
  readonly #seeds: readonly Member[];
  #order: number[] = [];
  #probed = -1;
  #sequence = 0;
  #relayAt = Infinity;
  #periodEnd = Infinity;
  #retryAt = Infinity;
  /** In the order of `until`. */
  readonly #relays: Relay[] = [];

  /** `seeds` are the other nodes of the configuration. */
  constructor(parts: MembershipParts, verdicts: Verdicts, seeds: readonly Member[]) {
    this.#parts = parts;
    this.#verdicts = verdicts;
    this.#seeds = seeds;
  }

  get deadline(): number {
    return Math.min(this.#relayAt, this.#periodEnd, this.#retryAt);
  }

  /** The node has become a member. Nodes that started together don't probe together. */
  start(now: number): void {
    const { prng, timing } = this.#parts;
    this.#periodEnd = now + prng.below(timing.probeMs);
    this.#retryAt = now + timing.retryMs;
  }

  stop(): void {
    this.#relayAt = Infinity;
    this.#periodEnd = Infinity;
    this.#retryAt = Infinity;
  }

  /** This process stood still: whoever didn't answer meanwhile may well have done so. */
  excuse(): void {
    this.#probed = -1;
    this.#relayAt = Infinity;
  }

  onTick(now: number): void {
    const { timing } = this.#parts;
    if (now >= this.#periodEnd) {
      if (this.#probed >= 0) {
        this.#parts.counters.probesFailed += 1;
        this.#verdicts.suspect(now, this.#probed);
      }
      this.#periodEnd = now + timing.probeMs;
      this.#probe(now);
    } else if (now >= this.#relayAt) {
      this.#relayAt = Infinity;
      this.#askAgain();
    }
    if (now >= this.#retryAt) {
      this.#retryAt = now + timing.retryMs;
      this.#retry();
    }
  }

  onAck(packet: Packet): void {
    const { sequence, subject, sender } = packet;
    if (this.#probed >= 0 && sequence === this.#sequence && subject === this.#probed) {
      this.#probed = -1;
      this.#relayAt = Infinity;
      return;
    }
    const relay = this.#relays.find((one) => one.sequence === sequence);
    if (relay === undefined || relay.subject !== sender || subject !== sender) return;
    this.#parts.mail.send(relay.asker, 'ack', relay.askerSequence, sender, -1);
  }

  /** Somebody wants this node to ping another. */
  onRelay(now: number, asker: string, packet: Packet): void {
    const { table, prng, mail, timing, counters, self } = this.#parts;
    while (this.#relays.length > 0 && this.#relays[0]!.until <= now) this.#relays.shift();
    const record = table.find(packet.subject)?.record;
    if (record === undefined || record.nodeId === self.nodeId || !isMember(self)) return;
    if (this.#relays.length === maxRelays) {
      counters.relaysRefused += 1;
      return;
    }
    const sequence = prng.u32();
    const askerSequence = packet.sequence;
    const { subject } = packet;
    this.#relays.push({ sequence, asker, askerSequence, subject, until: now + timing.probeMs });
    mail.send(record.address, 'ping', sequence, subject, subject);
  }

  #probe(now: number): void {
    const { prng, timing, counters } = this.#parts;
    this.#probed = this.#nextMember();
    this.#relayAt = Infinity;
    if (this.#probed < 0) return;
    counters.probes += 1;
    this.#sequence = prng.u32();
    this.#relayAt = now + timing.ackMs;
    this.#ping();
  }

  /** Once more, and by way of others. */
  #askAgain(): void {
    const { table, prng, mail, timing, self } = this.#parts;
    const others = table
      .running(self.nodeId)
      .filter(({ record }) => record.nodeId !== this.#probed && record.status === 'alive');
    this.#ping();
    for (let i = 0; i < timing.relays && others.length > 0; i++) {
      const [other] = others.splice(prng.below(others.length), 1);
      const { address, nodeId } = other!.record;
      mail.send(address, 'relay', this.#sequence, this.#probed, nodeId);
    }
  }

  /** The next running member of the round, -1 when there is none. */
  #nextMember(): number {
    const { table, self } = this.#parts;
    for (let round = 0; round < 2; round++) {
      while (this.#order.length > 0) {
        const nodeId = this.#order.pop()!;
        const status = table.find(nodeId)?.record.status;
        if (status === 'alive' || status === 'suspect') return nodeId;
      }
      this.#order = table.running(self.nodeId).map(({ record }) => record.nodeId);
      this.#shuffle(this.#order);
    }
    return -1;
  }

  #shuffle(ids: number[]): void {
    for (let last = ids.length - 1; last > 0; last--) {
      const other = this.#parts.prng.below(last + 1);
      const id = ids[last]!;
      ids[last] = ids[other]!;
      ids[other] = id;
    }
  }

  /** Tries one of those that may be there without this node's knowing. */
  #retry(): void {
    const { table, prng, mail, self } = this.#parts;
    const gone: Pick<Member, 'nodeId' | 'address'>[] = [];
    for (const { record } of table.entries) {
      if (record.status === 'down' && record.nodeId !== self.nodeId) gone.push(record);
    }
    for (const seed of this.#seeds) {
      const status = table.find(seed.nodeId)?.record.status;
      if (status === undefined || status === 'left') gone.push(seed);
    }
    if (gone.length === 0) return;
    const { address, nodeId } = gone[prng.below(gone.length)]!;
    mail.send(address, 'ping', prng.u32(), nodeId, nodeId);
  }

  #ping(): void {
    const { table, mail } = this.#parts;
    const { address } = table.find(this.#probed)!.record;
    mail.send(address, 'ping', this.#sequence, this.#probed, this.#probed);
  }
}
