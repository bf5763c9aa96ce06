/**
 * The ring as this node sees it: a function of its table, published whenever places have changed and settled.
 *
 * Members are the nodes whose place is odd. The epoch is the sum of all place counters. Counters only grow and tables only
 * merge, so a table that has taken in another's news has an epoch at least as high, and a higher one if places differ:
 * ring versions follow the order in which knowledge grows, without anybody handing out numbers. Two nodes that learned
 * different changes may have the same epoch for a moment; the hash in the version makes one of them the newer until
 * they have heard each other, which is newer than both.
 *
 * Gateways keep to the newest version they have seen. Should a whole cluster restart and forget its counters, gateways
 * that live on show the old version around; a node that can't explain it after a while raises its own counter above it. That
 * includes a version of the very epoch that the new cluster has come to, whose hash happens to be the greater one.
 */
import { epochOf, Ring, ringVersion } from '../ring.ts';
import { isPlaced, maxPlace } from './member-record.ts';
import type { MembershipParts } from './parts.ts';
import { isMember } from './self.ts';

export class RingView {
  readonly #parts: MembershipParts;
  #ring: Ring | null = null;
  #placesDigest = 0;
  /** Since when places differ from the ring's, and when they had changed last. */
  #changedAt = Infinity;
  #settledAt = Infinity;
  #outbidAt = Infinity;
  #outbidVersion = 0;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
  }

  /** Null before the node has joined. */
  get ring(): Ring | null {
    return this.#ring;
  }

  get deadline(): number {
    return Math.min(this.#settledAt, this.#outbidAt);
  }

  /** Something may have changed in the table. */
  look(now: number): void {
    const { self, table, timing } = this.#parts;
    if (table.placesDigest === this.#placesDigest || !isMember(self)) return;
    this.#placesDigest = table.placesDigest;
    this.#changedAt = Math.min(this.#changedAt, now);
    const { settleMs, settleMaxMs } = timing;
    // The first ring is what everybody waits for.
    const isFirst = this.#ring === null;
    this.#settledAt = isFirst ? now : Math.min(now + settleMs, this.#changedAt + settleMaxMs);
  }

  onTick(now: number): void {
    if (now >= this.#outbidAt) this.#outbid();
    if (now < this.#settledAt) return;
    this.#settledAt = Infinity;
    this.#changedAt = Infinity;
    const members = this.#parts.table.entries
      .filter(({ record }) => isPlaced(record))
      .map(({ record: { nodeId, weight, address } }) => ({ nodeId, weight, address }));
    const ring = new Ring(ringVersion(this.#parts.table.epoch, members), members);
    if (ring.version === this.#ring?.version) return;
    this.#ring = ring;
    this.#parts.effects.ringChanged(ring);
  }

  /** Somebody holds a ring of this version. */
  onVersionSeen(now: number, version: number): void {
    const { timing, prng, table } = this.#parts;
    const isKnown = this.#ring !== null && version <= this.#ring.version;
    if (isKnown || epochOf(version) < table.epoch) return;
    this.#outbidVersion = Math.max(this.#outbidVersion, version);
    // Whoever is first is enough: the others learn of it before they are due.
    if (this.#outbidAt === Infinity) {
      this.#outbidAt = now + timing.versionPatienceMs + prng.below(timing.versionPatienceMs);
    }
  }

  stop(): void {
    this.#settledAt = Infinity;
    this.#outbidAt = Infinity;
  }

  #outbid(): void {
    this.#outbidAt = Infinity;
    const { self, table } = this.#parts;
    const lacking = epochOf(this.#outbidVersion) - table.epoch;
    const isKnown = this.#ring !== null && this.#outbidVersion <= this.#ring.version;
    this.#outbidVersion = 0;
    if (isKnown || lacking < 0 || !isMember(self)) return;
    const { record } = table.find(self.nodeId)!;
    // An even step, so that a place stays one.
    const step = lacking - (lacking % 2) + 2;
    if (record.place + step <= maxPlace) table.set({ ...record, place: record.place + step });
  }
}
