// What went through: counters by operation, and a log of requests that tests read and clear.

export interface LoggedRequest {
  readonly method: string;
  /** Byte for byte as in the request line. */
  readonly target: string;
  /** By lower-case name, repeated ones joined by commas. */
  readonly headers: ReadonlyMap<string, string>;
  readonly range: string | null;
  /** S3's name, or 'Refused' where it never got that far. */
  readonly operation: string;
  readonly bucket: string | null;
  readonly key: string | null;
  /** 0 where the connection was cut instead. */
  readonly status: number;
  /** Of the answer's body. */
  readonly bytesSent: number;
}

const maxLogged = 10_000;

export class Traffic {
  /** Requests by operation. */
  readonly requests = new Map<string, number>();
  /** Body bytes sent by operation. */
  readonly bytesSent = new Map<string, number>();
  #log: LoggedRequest[] = [];

  /** Finished requests, the oldest first; at least the last 10,000. */
  get log(): readonly LoggedRequest[] {
    return this.#log;
  }

  /** Requests of one operation, or of all. */
  count(operation?: string): number {
    return total(this.requests, operation);
  }

  /** Body bytes sent by one operation, or by all. */
  sent(operation?: string): number {
    return total(this.bytesSent, operation);
  }

  clear(): void {
    this.requests.clear();
    this.bytesSent.clear();
    this.#log = [];
  }

  /** Counted when a request comes in, so that tests see requests that wait. */
  began(operation: string): void {
    this.requests.set(operation, (this.requests.get(operation) ?? 0) + 1);
  }

  ended(request: LoggedRequest): void {
    const { operation, bytesSent } = request;
    this.bytesSent.set(operation, (this.bytesSent.get(operation) ?? 0) + bytesSent);
    this.#log.push(request);
    if (this.#log.length >= 2 * maxLogged) this.#log = this.#log.slice(-maxLogged);
  }
}

function total(counts: ReadonlyMap<string, number>, operation: string | undefined): number {
  if (operation !== undefined) return counts.get(operation) ?? 0;
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}
