/**
 * The origins that a metadata service knows, all of them at once, asked for every `refreshMs`.
 *
 * Requests look an origin up without waiting, so a node keeps the whole table. While the service fails, the last good table counts
 * until it is `keepMs` old; then it is empty.
 */
import type { ServedOrigins } from './answers.ts';

export interface FollowerOptions {
  readonly ask: () => Promise<ServedOrigins>;
  /** The table is another one; null for none. */
  readonly onChange: (origins: ServedOrigins | null) => void;
  readonly onFailed: (error: Error) => void;
  readonly refreshMs: number;
  readonly keepMs: number;
}

/** After a failure it is asked again this soon at the latest. */
const retryMs = 1000;

export class OriginFollower {
  /** Resolves after the first try, whatever came of it. */
  readonly firstTried: Promise<void>;
  readonly #options: FollowerOptions;
  #has = false;
  #askedAt = 0;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.firstTried = this.#ask();
  }

  /** Whether there is a table. */
  get has(): boolean {
    return this.#has;
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    const { ask, refreshMs } = this.#options;
    const askedAt = performance.now();
    let nextMs = refreshMs;
    try {
      const origins = await ask();
      if (this.#stopped()) return;
      this.#askedAt = askedAt;
      this.#has = true;
      this.#options.onChange(origins);
    } catch (error) {
      if (this.#stopped()) return;
      this.#failed(error instanceof Error ? error : new Error(String(error)));
      nextMs = Math.min(refreshMs, retryMs);
    }
    this.#timer = setTimeout(() => void this.#ask(), nextMs);
    this.#timer.unref();
  }

  #failed(error: Error): void {
    this.#options.onFailed(error);
    if (!this.#has || performance.now() - this.#askedAt <= this.#options.keepMs) return;
    this.#has = false;
    this.#options.onChange(null);
  }

  /** `stop` may come while the service is asked. */
  #stopped(): boolean {
    return this.#isStopped;
  }
}
