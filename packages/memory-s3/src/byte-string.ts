// Byte strings: JavaScript strings whose every character is one byte (0–255).
//
// Keys and header values are bytes that we must give back exactly as they came. Node hands headers and
// targets over in this form, it compares in byte order (which is S3's listing order), and it works as a
// Map key. Text (for XML and for tests) is converted at the edges only.
import { S3Error } from './s3-error.ts';

export type ByteString = string;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function bytesFromText(text: string): ByteString {
  return Buffer.from(text, 'utf8').toString('latin1');
}

export function textFromBytes(bytes: ByteString): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

export function isUtf8(bytes: ByteString): boolean {
  try {
    utf8.decode(Buffer.from(bytes, 'latin1'));
    return true;
  } catch {
    return false;
  }
}

/** Undoes percent encoding byte by byte. @throws S3Error InvalidURI on a broken escape. */
export function percentDecode(encoded: string, plusIsSpace = false): ByteString {
  const source = plusIsSpace ? encoded.replaceAll('+', ' ') : encoded;
  if (!source.includes('%')) return source;
  return source.replace(/%(..?)?/gs, (_escape, digits: string | undefined) => {
    if (digits === undefined || !/^[0-9a-fA-F]{2}$/.test(digits)) throw new S3Error('InvalidURI');
    return String.fromCharCode(Number.parseInt(digits, 16));
  });
}

/** Signature Version 4's URI encoding: everything but unreserved characters, upper-case digits. */
export function percentEncode(bytes: ByteString, keepSlash: boolean): string {
  const pattern = keepSlash ? /[^A-Za-z0-9\-._~/]/g : /[^A-Za-z0-9\-._~]/g;
  return bytes.replace(pattern, escapeByte);
}

/** The encoding of keys in listings with `encoding-type=url`: form encoding that spares `/` and `*`. */
export function listingEncode(bytes: ByteString): string {
  return bytes.replace(/[^A-Za-z0-9\-._*/ ]/g, escapeByte).replaceAll(' ', '+');
}

function escapeByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
