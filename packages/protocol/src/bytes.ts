/**
 * Little-endian figures and binary strings in a Uint8Array: the alphabet of every frame.
 *
 * Writers return the offset after what they wrote and trust the caller to have reserved room; readers trust the caller to
 * have checked that the bytes are there. 64-bit figures are two u32 halves and hold safe integers only: `readU64` gives -1
 * for anything above 2^53 - 1, so that one comparison refuses it.
 */
import type { Hash128 } from '@s3-accelerator/core/base/hash.ts';

const twoTo32 = 0x1_0000_0000;

/** High halves from here on don't fit a safe integer. */
const highLimit = 0x20_0000;

/** Characters turned into a string by one call: well below any engine's limit of arguments. */
const charactersPerCall = 4096;

export function writeU16(into: Uint8Array, at: number, value: number): number {
  into[at] = value;
  into[at + 1] = value >>> 8;
  return at + 2;
}

export function writeU32(into: Uint8Array, at: number, value: number): number {
  into[at] = value;
  into[at + 1] = value >>> 8;
  into[at + 2] = value >>> 16;
  into[at + 3] = value >>> 24;
  return at + 4;
}

/** Writes a whole number from 0 to 2^53 - 1. */
export function writeU64(into: Uint8Array, at: number, value: number): number {
  writeU32(into, at, (value % twoTo32) | 0);
  return writeU32(into, at + 4, Math.floor(value / twoTo32));
}

export function writeHash(into: Uint8Array, at: number, hash: Hash128): number {
  writeU32(into, at, hash.h0);
  writeU32(into, at + 4, hash.h1);
  writeU32(into, at + 8, hash.h2);
  return writeU32(into, at + 12, hash.h3);
}

export function writeBytes(into: Uint8Array, at: number, bytes: Uint8Array): number {
  into.set(bytes, at);
  return at + bytes.length;
}

/** Writes one byte for each character; characters are at most U+00FF. */
export function writeBinary(into: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) into[at + index] = text.charCodeAt(index);
  return at + text.length;
}

export function readU16(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8);
}

export function readU32(bytes: Uint8Array, at: number): number {
  const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  return word >>> 0;
}

/** A figure of 64 bits, or -1 when it is no safe integer. */
export function readU64(bytes: Uint8Array, at: number): number {
  const high = readU32(bytes, at + 4);
  return high < highLimit ? high * twoTo32 + readU32(bytes, at) : -1;
}

export function readHash(bytes: Uint8Array, at: number, into: Hash128): void {
  into.h0 = readU32(bytes, at);
  into.h1 = readU32(bytes, at + 4);
  into.h2 = readU32(bytes, at + 8);
  into.h3 = readU32(bytes, at + 12);
}

/** Bytes [start, end) as a string of one character each. */
export function readBinary(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let at = start; at < end; at += charactersPerCall) {
    const piece = bytes.subarray(at, Math.min(at + charactersPerCall, end));
    // Not spread: that would go through an iterator, on every read's bucket and key.
    text += String.fromCharCode.apply(null, piece as unknown as number[]);
  }
  return text;
}
