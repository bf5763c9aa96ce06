/**
 * The body of an answer that has the last word on a write: white space goes to the client as it comes, the document itself
 * waits until it is whole. So a client never learns of a write before the cache does.
 */
import type { WriteOutcome } from '@s3-accelerator/core/gateway/knowledge.ts';
import { BodyVerdict } from './write-outcome.ts';

/** A thousand long keys of DeleteObjects take about 1.5 MB. */
const maxHeldAnswerBytes = 4 * 1024 * 1024;

export class HeldAnswer {
  readonly #verdict = new BodyVerdict();
  readonly #held: Buffer[] = [];
  #length = 0;

  /** Returns what may go to the client at once: all of the bytes, or nothing. */
  push(bytes: Uint8Array): Uint8Array | null {
    this.#verdict.push(bytes);
    if (!this.#verdict.begun) return bytes;
    this.#held.push(Buffer.from(bytes));
    this.#length += bytes.length;
    return null;
  }

  /** It is longer than any answer of its kind. */
  get isTooLong(): boolean {
    return this.#length > maxHeldAnswerBytes;
  }

  outcome(): WriteOutcome {
    return this.#verdict.outcome();
  }

  /** What was held. */
  rest(): Buffer {
    return Buffer.concat(this.#held);
  }
}
