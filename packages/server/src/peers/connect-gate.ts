/**
 * Whether a node may be connected to now: after a failed connection there is a pause, which doubles up to a limit.
 *
 * Without it a node that is down would be connected to for every read. The first failure's pause is short, so that a
 * restart is noticed soon; jitter keeps gateways from coming back all at once.
 */
export class ConnectGate {
  readonly #minMs: number;
  readonly #maxMs: number;
  #pauseMs = 0;
  #openAt = 0;

  constructor(minMs: number, maxMs: number) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
  }

  /** `now` in milliseconds of any monotonic clock. */
  isOpen(now: number): boolean {
    return now >= this.#openAt;
  }

  /** A connection failed before it served. `jitter` is in [0, 1). */
  failed(now: number, jitter: number): void {
    this.#pauseMs = Math.min(this.#maxMs, Math.max(this.#minMs, this.#pauseMs * 2));
    this.#openAt = now + this.#pauseMs * (0.5 + jitter / 2);
  }

  /** A connection serves. */
  succeeded(): void {
    this.#pauseMs = 0;
    this.#openAt = 0;
  }
}
