/**
 * A request's body on its way to undici: a Readable that is fed from outside.
 *
 * Bytes wait here and not in the stream's own buffer, so that giving up frees them at once: undici holds on to a request that waits
 * for a connection, also when nobody wants it any more, and thousands of those would each keep a full buffer.
 *
 * Memory: at most `maxQueuedBytes` plus the one write that went past it, as long as the writer obeys `write`'s answer.
 */
import { Readable } from 'node:stream';

const maxQueuedBytes = 256 * 1024;

export class RequestBody extends Readable {
  readonly #onDrain: () => void;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #isFull = false;
  #isComplete = false;
  /** The stream asked for bytes when there were none. */
  #isWanted = false;

  constructor(onDrain: () => void) {
    // One piece at a time: what waits, waits in the queue.
    super({ highWaterMark: 1 });
    this.#onDrain = onDrain;
    // undici destroys it with the connection's error, which the exchange hears of by itself.
    this.on('error', () => undefined);
  }

  /** Copies the bytes. False: full, `onDrain` follows. */
  write(bytes: Uint8Array): boolean {
    if (bytes.length === 0 || this.destroyed) return !this.#isFull;
    this.#queue.push(Buffer.from(bytes));
    this.#queuedBytes += bytes.length;
    this.#isFull = this.#queuedBytes >= maxQueuedBytes;
    if (this.#isWanted) this._read();
    return !this.#isFull;
  }

  end(): void {
    this.#isComplete = true;
    if (this.#isWanted) this._read();
  }

  override _read(): void {
    const next = this.#queue.shift();
    this.#isWanted = next === undefined && !this.#isComplete;
    if (next === undefined) {
      if (this.#isComplete) this.push(null);
      return;
    }
    this.#queuedBytes -= next.length;
    this.push(next);
    if (!this.#isFull || this.#queuedBytes >= maxQueuedBytes) return;
    this.#isFull = false;
    this.#onDrain();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#queue = [];
    this.#queuedBytes = 0;
    callback(error);
  }
}
