/**
 * Keeps back the last byte of a body until the body is known to be right.
 *
 * An origin that was promised N bytes commits nothing while it has only N - 1. So an upload can be streamed while it is
 * still being verified, and a wrong one is broken off instead of stored.
 */
export type EmitBody = (bytes: Uint8Array) => void;

export class WithheldTail {
  /** Bytes that may be passed on before the last one. */
  #free: number;
  #last = 0;
  #hasLast = false;

  /** Of a body of `length` bytes. */
  constructor(length: number) {
    this.#free = length - 1;
  }

  /** Passes bytes on as they are, all but the last one of the body, and nothing beyond it. */
  push(bytes: Uint8Array, emit: EmitBody): void {
    if (bytes.length === 0) return;
    const now = Math.min(this.#free, bytes.length);
    this.#free -= now;
    if (now < bytes.length) {
      this.#last = bytes[now]!;
      this.#hasLast = true;
    }
    if (now > 0) emit(now === bytes.length ? bytes : bytes.subarray(0, now));
  }

  /** The body is right: passes on its last byte, if it has any. */
  release(emit: EmitBody): void {
    if (!this.#hasLast) return;
    this.#hasLast = false;
    emit(Uint8Array.of(this.#last));
  }
}
