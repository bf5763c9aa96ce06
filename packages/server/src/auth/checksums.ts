/**
 * The checksums that S3 takes with an upload, computed along the way.
 *
 * CRC-32 and the SHAs come from Node. CRC-32C and CRC-64/NVME are done here with eight tables each, so that eight bytes
 * take one step; the 64-bit one works on two halves, since BigInt is far slower. Tables: 24 KiB, built at start.
 */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type ChecksumAlgorithm = 'crc32' | 'crc32c' | 'crc64nvme' | 'sha1' | 'sha256';

export interface Checksum {
  update(bytes: Uint8Array): void;
  /** The checksum in base64, as headers and trailers carry it. Ends the computation. */
  digest(): string;
}

const algorithms: readonly ChecksumAlgorithm[] = ['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256'];

/** The algorithm whose value a header or trailer of that name carries, or null when it carries none we know. */
export function checksumNamed(headerName: string): ChecksumAlgorithm | null {
  return algorithms.find((algorithm) => headerName === `x-amz-checksum-${algorithm}`) ?? null;
}

export function newChecksum(algorithm: ChecksumAlgorithm): Checksum {
  switch (algorithm) {
    case 'crc32':
      return new Crc32();
    case 'crc32c':
      return new Crc32c();
    case 'crc64nvme':
      return new Crc64Nvme();
    case 'sha1':
    case 'sha256':
      return new Sha(algorithm);
  }
}

class Sha implements Checksum {
  readonly #hash;

  constructor(algorithm: 'sha1' | 'sha256') {
    this.#hash = createHash(algorithm);
  }

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  digest(): string {
    return this.#hash.digest('base64');
  }
}

function base64OfWords(...words: readonly number[]): string {
  const bytes = Buffer.alloc(words.length * 4);
  words.forEach((word, index) => bytes.writeUInt32BE(word >>> 0, index * 4));
  return bytes.toString('base64');
}

class Crc32 implements Checksum {
  #value = 0;

  update(bytes: Uint8Array): void {
    this.#value = crc32(bytes, this.#value);
  }

  digest(): string {
    return base64OfWords(this.#value);
  }
}

/** Entry `table * 256 + byte`: what the byte turns into with `table` further zero bytes behind it. */
const crc32cTables = new Uint32Array(8 * 256);
const castagnoli = 0x82f6_3b78;
for (let byte = 0; byte < 256; byte += 1) {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ ((value & 1) * castagnoli);
  crc32cTables[byte] = value;
}
for (let at = 256; at < crc32cTables.length; at += 1) {
  const shorter = crc32cTables[at - 256]!;
  crc32cTables[at] = (shorter >>> 8) ^ crc32cTables[shorter & 255]!;
}

class Crc32c implements Checksum {
  #value = -1;

  update(bytes: Uint8Array): void {
    const table = crc32cTables;
    let value = this.#value;
    let at = 0;
    for (const last = bytes.length - 8; at <= last; at += 8) {
      value ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      value =
        table[1792 + (value & 255)]! ^
        table[1536 + ((value >>> 8) & 255)]! ^
        table[1280 + ((value >>> 16) & 255)]! ^
        table[1024 + (value >>> 24)]! ^
        table[768 + bytes[at + 4]!]! ^
        table[512 + bytes[at + 5]!]! ^
        table[256 + bytes[at + 6]!]! ^
        table[bytes[at + 7]!]!;
    }
    for (; at < bytes.length; at += 1) {
      value = (value >>> 8) ^ table[(value ^ bytes[at]!) & 255]!;
    }
    this.#value = value;
  }

  digest(): string {
    return base64OfWords(~this.#value);
  }
}

/** The same for the 64-bit polynomial, high and low halves apart. */
const crc64High = new Uint32Array(8 * 256);
const crc64Low = new Uint32Array(8 * 256);
const nvmeHigh = 0x9a6c_9329;
const nvmeLow = 0xac4b_c9b5;
for (let byte = 0; byte < 256; byte += 1) {
  let high = 0;
  let low = byte;
  for (let bit = 0; bit < 8; bit += 1) {
    const odd = low & 1;
    low = ((low >>> 1) | (high << 31)) ^ (odd * nvmeLow);
    high = (high >>> 1) ^ (odd * nvmeHigh);
  }
  crc64High[byte] = high;
  crc64Low[byte] = low;
}
for (let at = 256; at < crc64Low.length; at += 1) {
  const high = crc64High[at - 256]!;
  const low = crc64Low[at - 256]!;
  crc64Low[at] = ((low >>> 8) | (high << 24)) ^ crc64Low[low & 255]!;
  crc64High[at] = (high >>> 8) ^ crc64High[low & 255]!;
}

class Crc64Nvme implements Checksum {
  #high = -1;
  #low = -1;

  update(bytes: Uint8Array): void {
    let high = this.#high;
    let low = this.#low;
    let at = 0;
    for (const last = bytes.length - 8; at <= last; at += 8) {
      low ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      high ^=
        bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24);
      const i0 = 1792 + (low & 255);
      const i1 = 1536 + ((low >>> 8) & 255);
      const i2 = 1280 + ((low >>> 16) & 255);
      const i3 = 1024 + (low >>> 24);
      const i4 = 768 + (high & 255);
      const i5 = 512 + ((high >>> 8) & 255);
      const i6 = 256 + ((high >>> 16) & 255);
      const i7 = high >>> 24;
      low =
        crc64Low[i0]! ^
        crc64Low[i1]! ^
        crc64Low[i2]! ^
        crc64Low[i3]! ^
        crc64Low[i4]! ^
        crc64Low[i5]! ^
        crc64Low[i6]! ^
        crc64Low[i7]!;
      high =
        crc64High[i0]! ^
        crc64High[i1]! ^
        crc64High[i2]! ^
        crc64High[i3]! ^
        crc64High[i4]! ^
        crc64High[i5]! ^
        crc64High[i6]! ^
        crc64High[i7]!;
    }
    for (; at < bytes.length; at += 1) {
      const index = (low ^ bytes[at]!) & 255;
      low = ((low >>> 8) | (high << 24)) ^ crc64Low[index]!;
      high = (high >>> 8) ^ crc64High[index]!;
    }
    this.#high = high;
    this.#low = low;
  }

  digest(): string {
    return base64OfWords(~this.#high, ~this.#low);
  }
}
