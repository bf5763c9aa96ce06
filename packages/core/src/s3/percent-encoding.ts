/**
 * Percent-encoding over binary strings: strings whose characters are bytes, 0 to 255.
 *
 * Keys are bytes, not text: nothing is validated as UTF-8, nothing is normalised, and encoding what was decoded gives
 * the one canonical form that SigV4 signs.
 */

/** 1 where SigV4 leaves a byte as it is: letters, digits, `-`, `.`, `_`, `~`. */
export const isUnreserved = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~') {
  isUnreserved[character.charCodeAt(0)] = 1;
}

/** The value of a hexadecimal digit's character code, or -1. */
export function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** Decodes `%XX`; null when a `%` isn't followed by two hexadecimal digits. */
export function percentDecode(raw: string): string | null {
  let at = raw.indexOf('%');
  if (at < 0) return raw;
  let decoded = '';
  let copied = 0;
  while (at >= 0) {
    const high = hexValue(raw.charCodeAt(at + 1));
    const low = hexValue(raw.charCodeAt(at + 2));
    if (high < 0 || low < 0) return null;
    decoded += raw.slice(copied, at) + String.fromCharCode(high * 16 + low);
    copied = at + 3;
    at = raw.indexOf('%', copied);
  }
  return decoded + raw.slice(copied);
}

const encodedByte: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  isUnreserved[byte] === 1
    ? String.fromCharCode(byte)
    : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
);

/** SigV4's encoding of a binary string; with `keepSlashes` a `/` stays, as in a path. */
export function percentEncode(binary: string, keepSlashes: boolean): string {
  let encoded = '';
  for (let at = 0; at < binary.length; at += 1) {
    const code = binary.charCodeAt(at);
    encoded += keepSlashes && code === 0x2f ? '/' : encodedByte[code & 0xff]!;
  }
  return encoded;
}

/** The UTF-8 bytes of text as a binary string. */
export function utf8ToBinary(text: string): string {
  let binary = '';
  for (const character of text) {
    const point = character.codePointAt(0)!;
    if (point < 0x80) binary += character;
    else if (point < 0x800) binary += String.fromCharCode(0xc0 | (point >> 6), continued(point, 0));
    else if (point < 0x10000) {
      binary += String.fromCharCode(0xe0 | (point >> 12), continued(point, 6), continued(point, 0));
    } else {
      binary += String.fromCharCode(
        0xf0 | (point >> 18),
        continued(point, 12),
        continued(point, 6),
        continued(point, 0),
      );
    }
  }
  return binary;
}

function continued(point: number, shift: number): number {
  return 0x80 | ((point >> shift) & 0x3f);
}
