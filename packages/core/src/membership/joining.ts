/**
 * How a node that starts finds its cluster: it asks the nodes of its configuration, one after the other, for their table.
 *
 * The first whole table of a member is the cluster; any running node will do, and what the configuration says of others counts
 * no more. When no member answers in time, the node begins a cluster of all the nodes that its configuration names:
 * those that start beside it from the same file begin the same one, and tables that met merge.
 */
import type { Member } from '../ring.ts';
import type { Packet } from './packet.ts';
import type { MembershipParts } from './parts.ts';
import type { Sync } from './sync.ts';

export class Joining {
  readonly #parts: MembershipParts;
  readonly #sync: Sync;
  readonly #seeds: readonly Member[];
  #next = 0;
  #nextPullAt = Infinity;
  #patienceEnd = Infinity;

  /** `seeds` are the other nodes of the configuration. */
  constructor(parts: MembershipParts, sync: Sync, seeds: readonly Member[]) {
    this.#parts = parts;
    this.#sync = sync;
    this.#seeds = seeds;
  }

  get deadline(): number {
    return Math.min(this.#nextPullAt, this.#patienceEnd);
  }

  start(now: number): void {
    const { prng, timing } = this.#parts;
    const alone = this.#seeds.length === 0;
    if (!alone) this.#next = prng.below(this.#seeds.length);
    this.#nextPullAt = alone ? Infinity : now;
    this.#patienceEnd = alone ? now : now + timing.joinPatienceMs;
  }

  /** True when patience is over: the configuration's nodes are in the table. */
  onTick(now: number): boolean {
    if (now >= this.#patienceEnd) {
      this.stop();
      this.#found();
      return true;
    }
    if (now >= this.#nextPullAt) {
      this.#nextPullAt = now + this.#parts.timing.joinMs;
      const seed = this.#seeds[this.#next]!;
      this.#next = (this.#next + 1) % this.#seeds.length;
      this.#sync.pull(now, seed.address);
    }
    return false;
  }

  /** A page has been taken in. True when the table is whole and a member's. */
  onPage(from: string, packet: Packet): boolean {
    const isWhole = this.#sync.onPage(from, packet);
    if (!isWhole || !packet.isMember || this.#patienceEnd === Infinity) return false;
    this.stop();
    return true;
  }

  stop(): void {
    this.#nextPullAt = Infinity;
    this.#patienceEnd = Infinity;
  }

  #found(): void {
    const { table } = this.#parts;
    for (const { nodeId, weight, address } of this.#seeds) {
      if (table.find(nodeId) !== null) continue;
      table.set({ nodeId, incarnation: 0, status: 'alive', run: 0, place: 1, weight, address });
    }
  }
}
