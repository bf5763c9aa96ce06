/**
 * Whole tables, page by page: how a newcomer learns the cluster, and how two nodes whose digests differ become equal.
 *
 * Who wants a table asks for it page after page; who gives it away remembers nothing of that. So it works over the same
 * packets as all the rest, at any size, and a lost page costs one more attempt. Both sides do it when they notice the
 * difference, which makes them equal whichever knew more.
 */
import type { Packet } from './packet.ts';
import type { MembershipParts } from './parts.ts';
import { isMember } from './self.ts';

export class Sync {
  readonly #parts: MembershipParts;
  /** Names the request whose page is awaited; -1 when none is. */
  #sequence = -1;
  #nextPullAt = -Infinity;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
  }

  /** Asks somebody for the whole table; what was awaited from another is given up. */
  pull(now: number, address: string): void {
    this.#nextPullAt = now + this.#parts.timing.pullMs;
    this.#ask(address, 0);
  }

  /** Somebody's digest was seen. While news is still on its way here or from here, tables differ anyway. */
  compare(now: number, address: string, digest: number): void {
    const { table, self, counters } = this.#parts;
    if (!isMember(self) || digest === table.digest || table.hasNews) return;
    if (now < this.#nextPullAt) return;
    counters.pulls += 1;
    this.pull(now, address);
  }

  /** The records of a page are in the table. True when it was the last page of the table that was asked for. */
  onPage(address: string, packet: Packet): boolean {
    if (packet.sequence !== this.#sequence) return false;
    this.#sequence = -1;
    if (packet.isLast) return true;
    this.#ask(address, packet.subject);
    return false;
  }

  #ask(address: string, from: number): void {
    this.#sequence = this.#parts.prng.u32();
    this.#parts.mail.send(address, 'pull', this.#sequence, from, -1);
  }
}
