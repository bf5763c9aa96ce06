/** A listener for tests that writes down what an exchange reports, and lets a test wait for its end. */
import type { OriginListener } from '../origin-exchange.ts';
import type { OriginFailure } from '../origin-failure.ts';

export class Recorder implements OriginListener {
  status = 0;
  headers: string[] = [];
  readonly parts: Uint8Array[] = [];
  failure: OriginFailure | null = null;
  drains = 0;
  /** Called on every event: tests hook in here. */
  onEvent: (event: 'head' | 'body' | 'end' | 'failed' | 'drain') => void = () => undefined;
  readonly over: Promise<void>;
  #settle: () => void = () => undefined;

  constructor() {
    this.over = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get body(): Buffer {
    return Buffer.concat(this.parts);
  }

  get failureCode(): string {
    return this.failure?.code ?? '';
  }

  onHead(status: number, headers: string[]): void {
    this.status = status;
    this.headers = headers;
    this.onEvent('head');
  }

  onBody(bytes: Uint8Array): void {
    this.parts.push(bytes);
    this.onEvent('body');
  }

  onEnd(): void {
    this.onEvent('end');
    this.#settle();
  }

  onFailed(failure: OriginFailure): void {
    this.failure = failure;
    this.onEvent('failed');
    this.#settle();
  }

  onDrain(): void {
    this.drains++;
    this.onEvent('drain');
  }
}
