/**
 * Keeps back the last byte of a body until the body is known to be right.
 *
 * An origin that was promised N bytes commits nothing while it has only N - 1. So an upload can be streamed while it is
 * still being verified, and a wrong one is broken off instead of stored.
 */
export type EmitBody = (bytes: Uint8Array) => void;

export class WithheldTail {
  #last = 0;
  #hasLast = false;

  /** Passes on all bytes so far but the last, copied. */
  push(bytes: Uint8Array, emit: EmitBody): void {
    if (bytes.length === 0) return;
    const kept = this.#hasLast ? 1 : 0;
    const out = Buffer.allocUnsafe(kept + bytes.length - 1);
    if (kept === 1) out[0] = this.#last;
    out.set(bytes.subarray(0, bytes.length - 1), kept);
    this.#last = bytes[bytes.length - 1]!;
    this.#hasLast = true;
    if (out.length > 0) emit(out);
  }

  /** The body is right: passes on its last byte, if it has any. */
  release(emit: EmitBody): void {
    if (!this.#hasLast) return;
    this.#hasLast = false;
    emit(Uint8Array.of(this.#last));
  }
}
