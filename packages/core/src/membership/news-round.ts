/**
 * Sends fresh news to a few members at a time, several times a second while there is any, so that a change is known
 * everywhere long before probes alone would have carried it.
 */
import type { MembershipParts } from './parts.ts';
import { isMember } from './self.ts';

/** How many members hear a farewell. */
const farewells = 8;

export class NewsRound {
  readonly #parts: MembershipParts;
  #roundAt = Infinity;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
  }

  get deadline(): number {
    return this.#roundAt;
  }

  /** Something may have become news. */
  look(now: number): void {
    const { table, self, timing } = this.#parts;
    if (this.#roundAt !== Infinity || !table.hasNews || !isMember(self)) return;
    if (table.running(self.nodeId).length > 0) this.#roundAt = now + timing.newsMs;
  }

  onTick(now: number): void {
    if (now < this.#roundAt) return;
    this.#roundAt = Infinity;
    this.#tell(this.#parts.timing.newsFanout);
  }

  /** This node's own record says that it stops. */
  sayFarewell(): void {
    this.#tell(farewells);
  }

  stop(): void {
    this.#roundAt = Infinity;
  }

  #tell(count: number): void {
    const { table, prng, mail, self } = this.#parts;
    const others = table.running(self.nodeId);
    for (let i = 0; i < count && others.length > 0; i++) {
      const [other] = others.splice(prng.below(others.length), 1);
      const { address, nodeId } = other!.record;
      mail.send(address, 'news', 0, 0, nodeId);
    }
  }
}
