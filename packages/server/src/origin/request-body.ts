/**
 * A request's body on its way to undici: a Readable that is fed from outside.
 *
 * Memory: at most `highWaterMark` plus the one write that went past it, as long as the writer obeys `write`'s answer.
 */
import { Readable } from 'node:stream';

const highWaterMark = 256 * 1024;

export class RequestBody extends Readable {
  readonly #onDrain: () => void;
  #full = false;

  constructor(onDrain: () => void) {
    super({ highWaterMark });
    this.#onDrain = onDrain;
    // undici destroys it with the connection's error, which the exchange hears of by itself.
    this.on('error', () => undefined);
  }

  /** Copies the bytes. False: full, `onDrain` follows. */
  write(bytes: Uint8Array): boolean {
    if (bytes.length === 0) return !this.#full;
    this.#full = !this.push(Buffer.from(bytes));
    return !this.#full;
  }

  end(): void {
    this.push(null);
  }

  override _read(): void {
    if (!this.#full) return;
    this.#full = false;
    this.#onDrain();
  }
}
