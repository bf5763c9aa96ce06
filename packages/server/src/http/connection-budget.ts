/**
 * How many connections clients may have, all servers that share the count together: `gateway.max_connections` is a promise of the
 * process, and the kernel spreads connections over its loops as it likes.
 */
export class ConnectionBudget {
  readonly #most: number;
  readonly #open: Int32Array;

  /** `open` is a zeroed word, in shared memory where several loops count together. */
  constructor(most: number, open: Int32Array = new Int32Array(1)) {
    this.#most = most;
    this.#open = open;
  }

  /** False when there are as many as may be. */
  take(): boolean {
    if (Atomics.add(this.#open, 0, 1) < this.#most) return true;
    this.giveBack();
    return false;
  }

  giveBack(): void {
    Atomics.sub(this.#open, 0, 1);
  }
}
