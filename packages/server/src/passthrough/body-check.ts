/** The check of a request's body, chosen by what its signature says about the payload. */
import { createHash } from 'node:crypto';
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';
import type { SigV4 } from '../auth/sigv4.ts';

export interface BodyCheck {
  /** Emits verified bytes, which are valid during the call. Null, or why the body is refused. */
  push(bytes: Uint8Array, emit: (bytes: Uint8Array) => void): ErrorCode | null;
  /** No more bytes come: emits what was withheld. */
  end(emit: (bytes: Uint8Array) => void): ErrorCode | null;
  /** After `end`: the value of a trailer by its lower-case name, '' when it had none. */
  trailer(name: string): string;
}

class Unsigned implements BodyCheck {
  push(bytes: Uint8Array, emit: (bytes: Uint8Array) => void): null {
    emit(bytes);
    return null;
  }
  end(): null {
    return null;
  }
  trailer(): string {
    return '';
  }
}

class Hashed implements BodyCheck {
  readonly #expected: string;
  readonly #hash = createHash('sha256');
  #last: Buffer = Buffer.alloc(0);
  constructor(expected: string) {
    this.#expected = expected;
  }
  push(bytes: Uint8Array, emit: (bytes: Uint8Array) => void): null {
    this.#hash.update(bytes);
    if (this.#last.length > 0) emit(this.#last);
    emit(bytes.subarray(0, -1));
    this.#last = Buffer.from(bytes.subarray(-1));
    return null;
  }
  end(emit: (bytes: Uint8Array) => void): ErrorCode | null {
    if (this.#hash.digest('hex') !== this.#expected) return 'XAmzContentSHA256Mismatch';
    emit(this.#last);
    return null;
  }
  trailer(): string {
    return '';
  }
}

export function bodyCheckFor(sigv4: SigV4 | null): BodyCheck {
  return sigv4?.payload === 'hash' ? new Hashed(sigv4.payloadHash()) : new Unsigned();
}
