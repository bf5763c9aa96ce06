/** What the check of a request's body looks like from here; auth/body-verifier.ts has it for every form of payload. */
import type { ErrorCode } from '@s3-accelerator/core/s3/errors.ts';

export interface BodyCheck {
  /** Emits verified bytes, which are valid during the call. Null, or why the body is refused. */
  push(bytes: Uint8Array, emit: (bytes: Uint8Array) => void): ErrorCode | null;
  /** No more bytes come: emits what was withheld. */
  end(emit: (bytes: Uint8Array) => void): ErrorCode | null;
  /** After `end`: the value of a trailer by its lower-case name, '' when it had none. */
  trailer(name: string): string;
}
