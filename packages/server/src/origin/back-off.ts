/**
 * How all requests to one origin hold back together once it says that there are too many of them (503 SlowDown, 429).
 *
 *   calm ──slowedDown──▶ pause (50 ms, doubled up to 3.2 s) ──▶ requests come back, spread out ──wentWell──▶ calmer
 *                          ▲                                             │
 *                          └────────────────── slowedDown ───────────────┘
 *
 * One pause counts once, however many answers ask for it. Without a memory that all share, each request would find out by itself
 * that the origin is overloaded, and all of them together would keep it so. Times are monotonic, in milliseconds.
 */

const firstPauseMs = 50;
const maxLevel = 6;

export class BackOff {
  /** Doublings of the pause; -1 while the origin has asked for none. */
  #level = -1;
  #pausedUntil = -Infinity;

  /** An answer said that the origin is overloaded. */
  slowedDown(now: number): void {
    if (now < this.#pausedUntil) return;
    this.#level = Math.min(this.#level + 1, maxLevel);
    this.#pausedUntil = now + this.#pauseMs();
  }

  /** A request that was sent then got an answer of another kind. */
  wentWell(sentAt: number): void {
    if (this.#level >= 0 && sentAt >= this.#pausedUntil) this.#level -= 1;
  }

  /** How long a request has to wait that would be sent now; 0 for not at all. `random` in [0, 1) spreads those that come back. */
  holdMs(now: number, random: number): number {
    const left = this.#pausedUntil - now;
    return left <= 0 ? 0 : left + (random * this.#pauseMs()) / 2;
  }

  #pauseMs(): number {
    return firstPauseMs * 2 ** Math.max(0, this.#level);
  }
}
