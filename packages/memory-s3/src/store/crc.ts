// The three CRCs of S3: CRC-32 (zlib's own), CRC-32C and CRC-64/NVME, all reflected with inverted ends.
//
// Tables advance eight bytes at a time. 64-bit values are two u32 halves in the loop, because BigInt is
// far too slow there; joining CRCs of parts happens once a part and uses BigInt for clarity.
import { crc32 } from 'node:zlib';
import type { Digest } from './digest.ts';

const polynomial32c = 0x82f63b78;
const polynomial64 = { high: 0x9a6c9329, low: 0xac4bc9b5 };

const table32c = makeTable32();
const { highTable, lowTable } = makeTable64();

function makeTable32(): Uint32Array {
  const table = new Uint32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) {
      value = value & 1 ? (value >>> 1) ^ polynomial32c : value >>> 1;
    }
    table[byte] = value;
  }
  for (let index = 256; index < table.length; index++) {
    const previous = table[index - 256]!;
    table[index] = (previous >>> 8) ^ table[previous & 0xff]!;
  }
  return table;
}

function makeTable64(): { highTable: Uint32Array; lowTable: Uint32Array } {
  const highs = new Uint32Array(8 * 256);
  const lows = new Uint32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let high = 0;
    let low = byte;
    for (let bit = 0; bit < 8; bit++) {
      const odd = low & 1;
      low = (low >>> 1) | (high << 31);
      high >>>= 1;
      if (odd) {
        high ^= polynomial64.high;
        low ^= polynomial64.low;
      }
    }
    highs[byte] = high;
    lows[byte] = low;
  }
  for (let index = 256; index < highs.length; index++) {
    const high = highs[index - 256]!;
    const low = lows[index - 256]!;
    highs[index] = (high >>> 8) ^ highs[low & 0xff]!;
    lows[index] = ((low >>> 8) | (high << 24)) ^ lows[low & 0xff]!;
  }
  return { highTable: highs, lowTable: lows };
}

export class Crc32 implements Digest {
  #state = 0;

  update(bytes: Buffer): void {
    this.#state = crc32(bytes, this.#state);
  }

  digest(): Buffer {
    const out = Buffer.alloc(4);
    out.writeUInt32BE(this.#state);
    return out;
  }
}

export class Crc32c implements Digest {
  #state = 0xffffffff;

  update(bytes: Buffer): void {
    const t = table32c;
    let state = this.#state;
    let at = 0;
    for (const last = bytes.length - 8; at <= last; at += 8) {
      state ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      state =
        t[1792 + (state & 0xff)]! ^
        t[1536 + ((state >>> 8) & 0xff)]! ^
        t[1280 + ((state >>> 16) & 0xff)]! ^
        t[1024 + (state >>> 24)]! ^
        t[768 + bytes[at + 4]!]! ^
        t[512 + bytes[at + 5]!]! ^
        t[256 + bytes[at + 6]!]! ^
        t[bytes[at + 7]!]!;
    }
    for (; at < bytes.length; at++) state = (state >>> 8) ^ t[(state ^ bytes[at]!) & 0xff]!;
    this.#state = state;
  }

  digest(): Buffer {
    const out = Buffer.alloc(4);
    out.writeUInt32BE(~this.#state >>> 0);
    return out;
  }
}

export class Crc64Nvme implements Digest {
  #high = 0xffffffff;
  #low = 0xffffffff;

  update(bytes: Buffer): void {
    const h = highTable;
    const l = lowTable;
    let high = this.#high;
    let low = this.#low;
    let at = 0;
    for (const last = bytes.length - 8; at <= last; at += 8) {
      low ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      high ^=
        bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24);
      const a = 1792 + (low & 0xff);
      const b = 1536 + ((low >>> 8) & 0xff);
      const c = 1280 + ((low >>> 16) & 0xff);
      const d = 1024 + (low >>> 24);
      const e = 768 + (high & 0xff);
      const f = 512 + ((high >>> 8) & 0xff);
      const g = 256 + ((high >>> 16) & 0xff);
      const i = high >>> 24;
      low = l[a]! ^ l[b]! ^ l[c]! ^ l[d]! ^ l[e]! ^ l[f]! ^ l[g]! ^ l[i]!;
      high = h[a]! ^ h[b]! ^ h[c]! ^ h[d]! ^ h[e]! ^ h[f]! ^ h[g]! ^ h[i]!;
    }
    for (; at < bytes.length; at++) {
      const index = (low ^ bytes[at]!) & 0xff;
      low = ((low >>> 8) | (high << 24)) ^ l[index]!;
      high = (high >>> 8) ^ h[index]!;
    }
    this.#high = high;
    this.#low = low;
  }

  digest(): Buffer {
    const out = Buffer.alloc(8);
    out.writeUInt32BE(~this.#high >>> 0);
    out.writeUInt32BE(~this.#low >>> 0, 4);
    return out;
  }
}

const polynomials = {
  CRC32: 0xedb88320n,
  CRC32C: 0x82f63b78n,
  CRC64NVME: 0x9a6c9329ac4bc9b5n,
};

/** The CRC of two stretches of bytes from the CRC of each and the second's length. */
export function joinCrc(
  algorithm: keyof typeof polynomials,
  first: Buffer,
  second: Buffer,
  secondBytes: number,
): Buffer {
  const width = BigInt(first.length * 8);
  const polynomial = polynomials[algorithm];
  // Reflected polynomials: the top bit is x^0, so x^8 (one byte of zeros) is eight bits below it.
  const shift = power(1n << (width - 9n), secondBytes, width, polynomial);
  const joined =
    multiply(shift, BigInt(`0x${first.toString('hex')}`), width, polynomial) ^
    BigInt(`0x${second.toString('hex')}`);
  return Buffer.from(joined.toString(16).padStart(first.length * 2, '0'), 'hex');
}

function multiply(a: bigint, b: bigint, width: bigint, polynomial: bigint): bigint {
  let product = 0n;
  let factor = b;
  for (let bit = 1n << (width - 1n); bit > 0n; bit >>= 1n) {
    if (a & bit) product ^= factor;
    factor = factor & 1n ? (factor >> 1n) ^ polynomial : factor >> 1n;
  }
  return product;
}

function power(base: bigint, exponent: number, width: bigint, polynomial: bigint): bigint {
  let result = 1n << (width - 1n);
  let square = base;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(result, square, width, polynomial);
    square = multiply(square, square, width, polynomial);
  }
  return result;
}
