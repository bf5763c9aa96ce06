/**
 * A client's body on its way out: checked, freed of the client's framing, and put into ours where a checksum trails it.
 *
 * The verifier withholds the last byte until everything is verified, so a body that turns out to be wrong never reaches the
 * origin whole: whoever forwards it aborts, and nothing was committed.
 */
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import type { BodyVerifier } from '../auth/body-verifier.ts';
import { TrailerFraming } from './trailer-framing.ts';
import type { Write } from './trailer-framing.ts';

export class CheckedBody {
  readonly #verifier: BodyVerifier;
  readonly #length: number;
  readonly #trailer: string;
  readonly #framing: TrailerFraming | null;
  readonly #write: Write;
  readonly #emit = (bytes: Uint8Array): void => {
    this.#written += bytes.length;
    // More than was promised: the end says so; until then nothing beyond goes out.
    if (this.#written > this.#length) return;
    this.#hasRoom = this.#framing?.push(bytes, this.#write) ?? this.#write(bytes);
  };
  #written = 0;
  #hasRoom = true;

  /** `length` bytes are promised; `trailer` names the checksum to frame them with, '' for none. */
  constructor(verifier: BodyVerifier, length: number, trailer: string, write: Write) {
    this.#verifier = verifier;
    this.#length = length;
    this.#trailer = trailer;
    this.#framing = trailer === '' ? null : new TrailerFraming(length);
    this.#write = write;
  }

  /** Whether the last write left room for more. */
  get hasRoom(): boolean {
    return this.#hasRoom;
  }

  /** Room came back. */
  drained(): void {
    this.#hasRoom = true;
  }

  push(bytes: Uint8Array): ErrorCode | null {
    const error = this.#verifier.push(bytes, this.#emit);
    return error ?? (this.#written > this.#length ? 'IncompleteBody' : null);
  }

  end(): ErrorCode | null {
    const error = this.#verifier.end(this.#emit);
    if (error !== null) return error;
    if (this.#written !== this.#length) return 'IncompleteBody';
    const checksum = this.#verifier.trailers.find(({ name }) => name === this.#trailer);
    this.#framing?.end(this.#trailer, checksum?.value ?? '', this.#write);
    return null;
  }
}
