/** A sink for tests that writes down what comes back, and lets a test wait for its end. */
import { headerValue } from '../../http/raw-headers.ts';
import type { ForwardSink } from '../forward.ts';

export class SinkRecorder implements ForwardSink {
  status = 0;
  headers: string[] = [];
  error: { code: string; message: string } | null = null;
  drains = 0;
  readonly over: Promise<void>;
  readonly #parts: Buffer[] = [];
  #settle: () => void = () => undefined;

  constructor() {
    this.over = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get body(): Buffer {
    return Buffer.concat(this.#parts);
  }

  /** By lower-case name. */
  header(name: string): string {
    return headerValue(this.headers, name);
  }

  onHead(status: number, headers: string[]): void {
    this.status = status;
    this.headers = headers;
  }

  onBody(bytes: Uint8Array): void {
    this.#parts.push(Buffer.from(bytes));
  }

  onEnd(): void {
    this.#settle();
  }

  onFailed(error: { code: string; message: string }): void {
    this.error = error;
    this.#settle();
  }

  onDrain(): void {
    this.drains++;
  }
}
