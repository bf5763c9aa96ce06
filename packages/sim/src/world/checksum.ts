/** A checksum in the place of the program's CRC32C: whoever compares has to notice damage, not to agree with a file. */
import { mix32 } from '@s3-accelerator/core/base/hash.ts';

/** 32 bits of all of a block's bytes. */
export function checksumOf(bytes: Uint8Array): number {
  let checksum = bytes.length;
  const whole = bytes.length - (bytes.length % 4);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < whole; at += 4) {
    checksum = Math.imul(checksum ^ view.getInt32(at, true), 0x85ebca6b);
    checksum ^= checksum >>> 15;
  }
  for (let at = whole; at < bytes.length; at += 1) checksum = Math.imul(checksum, 31) + bytes[at]!;
  return mix32(checksum);
}
