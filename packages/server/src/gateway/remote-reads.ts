/**
 * Reads under way at nodes in other processes: at which one, and the exchange that each one's body goes to once that is known.
 *
 * Filed by the slot in a read's id, so that a hit allocates nothing. Memory: 24 bytes for each read that was ever under way at
 * the same time.
 */

const none = -1;

export class RemoteReads {
  /** The read in each slot, `none` for an empty one. */
  readonly #reads: number[] = [];
  readonly #exchanges: number[] = [];
  readonly #nodes: number[] = [];
  readonly #slotMask: number;

  /** `slotMask` tells the slot in a read's id. */
  constructor(slotMask: number) {
    this.#slotMask = slotMask;
  }

  begin(read: number, nodeId: number): void {
    const slot = read & this.#slotMask;
    // Slots are handed out in any order; the arrays stay without holes.
    while (this.#reads.length <= slot) {
      this.#reads.push(none);
      this.#exchanges.push(none);
      this.#nodes.push(none);
    }
    this.#reads[slot] = read;
    this.#exchanges[slot] = none;
    this.#nodes[slot] = nodeId;
  }

  has(read: number): boolean {
    return this.#reads[read & this.#slotMask] === read;
  }

  /** The node that was asked; null for a read that isn't here. */
  nodeOf(read: number): number | null {
    return this.has(read) ? (this.#nodes[read & this.#slotMask] ?? null) : null;
  }

  goTo(read: number, exchange: number): void {
    this.#exchanges[read & this.#slotMask] = exchange;
  }

  /** Forgets a read; returns the exchange that it was for, -1 when that isn't known or the read isn't here. */
  end(read: number): number {
    if (!this.has(read)) return none;
    const slot = read & this.#slotMask;
    this.#reads[slot] = none;
    return this.#exchanges[slot] ?? none;
  }
}
