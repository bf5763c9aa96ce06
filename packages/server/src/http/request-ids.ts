/**
 * Request ids: 16 characters of capital hexadecimal, different for each request of a process and not guessable from one
 * another at a glance. A counter is mixed with a random seed, so an id costs a few multiplications and no allocation.
 */
import { randomBytes } from 'node:crypto';

const digits = Uint8Array.from(Buffer.from('0123456789ABCDEF', 'latin1'));

export const requestIdLength = 16;

/** A bijection of 32-bit numbers that spreads every bit. */
function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x21f0_aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

export class RequestIds {
  readonly #seedHigh: number;
  readonly #seedLow: number;
  #count = 0;

  constructor(seed: Uint8Array = randomBytes(8)) {
    const words = new DataView(seed.buffer, seed.byteOffset, seed.byteLength);
    this.#seedHigh = words.getUint32(0);
    this.#seedLow = words.getUint32(4);
  }

  /** The number of the next request; the id is rendered from it when it is wanted. */
  next(): number {
    this.#count = (this.#count + 1) >>> 0;
    return this.#count;
  }

  /** Writes the id of a request to `bytes[at, at + 16)`. */
  write(request: number, bytes: Uint8Array, at: number): void {
    const low = mix((request + this.#seedLow) >>> 0);
    const high = mix(low ^ this.#seedHigh);
    for (let digit = 0; digit < 8; digit += 1) {
      bytes[at + digit] = digits[(high >>> (28 - digit * 4)) & 15]!;
      bytes[at + 8 + digit] = digits[(low >>> (28 - digit * 4)) & 15]!;
    }
  }

  text(request: number): string {
    const bytes = Buffer.alloc(requestIdLength);
    this.write(request, bytes, 0);
    return bytes.toString('latin1');
  }
}
