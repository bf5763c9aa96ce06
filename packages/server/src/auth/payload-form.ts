/** What `x-amz-content-sha256` says about a body: how it is framed, and what proves it. */

export type PayloadForm =
  /** The SHA-256 of the whole body. */
  | 'hash'
  /** Nothing: the body isn't part of the signature. */
  | 'unsigned'
  /** aws-chunked, each chunk signed. */
  | 'signedChunks'
  /** aws-chunked, each chunk and the trailer signed. */
  | 'signedChunksTrailer'
  /** aws-chunked, unsigned, with a trailer. */
  | 'unsignedTrailer';

const names: readonly (readonly [PayloadForm, Uint8Array])[] = (
  [
    ['unsigned', 'UNSIGNED-PAYLOAD'],
    ['signedChunks', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'],
    ['signedChunksTrailer', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER'],
    ['unsignedTrailer', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'],
  ] as const
).map(([form, text]) => [form, Uint8Array.from(Buffer.from(text, 'latin1'))]);

function isLowerHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66);
}

/** The form named by `bytes[start, end)`, or null when there is none of that name. */
export function payloadFormOf(bytes: Uint8Array, start: number, end: number): PayloadForm | null {
  if (end - start === 64) {
    for (let at = start; at < end; at += 1) if (!isLowerHex(bytes[at]!)) return null;
    return 'hash';
  }
  for (const [form, name] of names) {
    if (end - start !== name.length) continue;
    let at = 0;
    while (at < name.length && bytes[start + at] === name[at]) at += 1;
    if (at === name.length) return form;
  }
  return null;
}
