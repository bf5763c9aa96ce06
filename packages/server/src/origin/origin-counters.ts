/** What origins were asked and what came back: plain numbers, published when metrics are scraped. */
import type { OriginFailureCode } from './origin-failure.ts';

export class OriginCounters {
  /** Answers by operation and status: the key is `operation status`. */
  readonly answers = new Map<string, number>();
  readonly failures = new Map<OriginFailureCode, number>();
  /** Further tries after a failure or a retryable status. */
  retries = 0;
  /** Waits of requests because the origin had asked for less. */
  held = 0;
  bodyBytesReceived = 0;
  bodyBytesSent = 0;
  /** Requests that were refused because too many waited already. */
  limitReached = 0;
  /** Requests that haven't ended yet: a level. */
  inFlight = 0;

  answered(operation: string, status: number): void {
    const key = `${operation} ${status}`;
    this.answers.set(key, (this.answers.get(key) ?? 0) + 1);
  }

  failed(code: OriginFailureCode): void {
    this.failures.set(code, (this.failures.get(code) ?? 0) + 1);
  }
}
