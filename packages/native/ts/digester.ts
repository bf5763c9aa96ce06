/**
 * SHA-256, HMAC and SigV4 checks over one scratch buffer, without allocating.
 *
 * The caller writes what is to be digested into `scratch` and names it by offsets. Keys are kept natively, as the
 * state of HMAC after the key, under small numbers that the caller hands out.
 */
import { native } from './native.ts';
import type { NativeDigester } from './native.ts';

export class Digester {
  /** 64 KiB unless asked otherwise: the longest canonical request plus room for results. */
  readonly scratch: Buffer;
  readonly #native: NativeDigester;

  constructor(scratchBytes = 65536) {
    this.scratch = Buffer.from(new ArrayBuffer(scratchBytes));
    this.#native = native.createDigester(this.scratch);
  }

  /** Keeps an HMAC-SHA256 key; a slot that is used again forgets its former key. */
  setKey(slot: number, key: Uint8Array): void {
    this.#native.setKey(slot, key);
  }

  /** SHA-256 of scratch[start, end) to scratch[out, out + 32); the ranges may overlap. */
  sha256(start: number, end: number, out: number): void {
    this.#native.sha256(start, end, out);
  }

  /** HMAC-SHA256 of scratch[start, end) to scratch[out, out + 32). Throws RangeError when the slot holds no key. */
  hmac(slot: number, start: number, end: number, out: number): void {
    this.#native.hmac(slot, start, end, out);
  }

  /**
   * Whether the 64 hex digits at scratch[signature] sign scratch[prefixStart, prefixEnd) followed by the hex SHA-256 of
   * scratch[canonicalStart, canonicalEnd). Takes the same time whatever differs. Throws RangeError without a key.
   */
  verifySigV4(
    slot: number,
    canonicalStart: number,
    canonicalEnd: number,
    prefixStart: number,
    prefixEnd: number,
    signature: number,
  ): boolean {
    return this.#native.verifySigV4(
      slot,
      canonicalStart,
      canonicalEnd,
      prefixStart,
      prefixEnd,
      signature,
    );
  }
}
