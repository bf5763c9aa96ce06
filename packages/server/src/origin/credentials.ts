/**
 * Credentials that end and are renewed before they do, shared by every request of their origins.
 *
 * Requests never wait for credentials: they take what is there, or fail at once when there is nothing valid. So whoever issues
 * them is asked in the background, one time in flight, early enough for several tries before the old ones end. Those stay in use
 * until they really end, whatever the issuer does meanwhile.
 */
import type { OriginCredentials } from './origins.ts';

/** Credentials with the moment they end, in milliseconds since 1970; Infinity for those that don't. */
export interface IssuedCredentials extends OriginCredentials {
  readonly expiresAtMs: number;
}

/** Asks whoever issues them. Fails with an error whose message tells an operator why. */
export type CredentialIssuer = () => Promise<IssuedCredentials>;

export interface RenewalOptions {
  /** Told of every try that failed, so that it can be logged. */
  readonly onFailed: (error: Error, areValid: boolean) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Wait before the next try after a failed one, which doubles up to `maxRetryMs`. */
  readonly firstRetryMs?: number;
  readonly maxRetryMs?: number;
}

/** Renewed this long before they end, or halfway there when they last less than twice as long. */
const earlyMs = 5 * 60_000;
/** Not more often than this, whatever an issuer says. */
const leastRenewalMs = 1000;
/** Timers can't be set further ahead than some 24 days. */
const longestTimerMs = 2 ** 31 - 1;

export class RenewedCredentials {
  /** Resolves after the first try, whatever came of it. */
  readonly firstTried: Promise<void>;
  readonly #issuer: CredentialIssuer;
  readonly #onFailed: RenewalOptions['onFailed'];
  readonly #now: () => number;
  readonly #firstRetryMs: number;
  readonly #maxRetryMs: number;
  #issued: IssuedCredentials | null = null;
  #timer: NodeJS.Timeout | null = null;
  #retryMs: number;
  #isAsking = false;
  #isStopped = false;

  constructor(issuer: CredentialIssuer, options: RenewalOptions) {
    this.#issuer = issuer;
    this.#onFailed = options.onFailed;
    this.#now = options.now ?? Date.now;
    this.#firstRetryMs = options.firstRetryMs ?? 1000;
    this.#maxRetryMs = options.maxRetryMs ?? 30_000;
    this.#retryMs = this.#firstRetryMs;
    this.firstTried = this.renew();
  }

  /** Credentials that are valid now, null when there are none. */
  current(): OriginCredentials | null {
    const issued = this.#issued;
    return issued !== null && issued.expiresAtMs > this.#now() ? issued : null;
  }

  /** Asks for new ones now, unless that is under way. Never fails. */
  async renew(): Promise<void> {
    if (this.#isAsking || this.#isStopped) return;
    this.#isAsking = true;
    let nextMs: number;
    try {
      this.#issued = await this.#issuer();
      this.#retryMs = this.#firstRetryMs;
      nextMs = this.#untilRenewal(this.#issued.expiresAtMs);
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      if (!this.#stopped()) this.#onFailed(failure, this.current() !== null);
      nextMs = this.#retryMs;
      this.#retryMs = Math.min(2 * this.#retryMs, this.#maxRetryMs);
    }
    this.#isAsking = false;
    if (!this.#stopped()) this.#renewIn(nextMs);
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** `stop` may come while the issuer is asked. */
  #stopped(): boolean {
    return this.#isStopped;
  }

  #untilRenewal(expiresAtMs: number): number {
    const left = expiresAtMs - this.#now();
    return Math.max(leastRenewalMs, Math.max(left - earlyMs, left / 2));
  }

  #renewIn(ms: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (ms === Infinity) return;
    this.#timer = setTimeout(() => void this.renew(), Math.min(ms, longestTimerMs));
    this.#timer.unref();
  }
}
