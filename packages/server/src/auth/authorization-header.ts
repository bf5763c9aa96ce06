/**
 * The `Authorization` header of SigV4, split into byte ranges without an allocation:
 *
 *     AWS4-HMAC-SHA256 Credential=AKID/20261129/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=…
 *
 * Fields may come in any order, once each, with or without white space around the commas.
 */

export interface AuthorizationFields {
  credentialStart: number;
  credentialEnd: number;
  signedHeadersStart: number;
  signedHeadersEnd: number;
  signatureStart: number;
  signatureEnd: number;
}

export function newAuthorizationFields(): AuthorizationFields {
  return {
    credentialStart: 0,
    credentialEnd: 0,
    signedHeadersStart: 0,
    signedHeadersEnd: 0,
    signatureStart: 0,
    signatureEnd: 0,
  };
}

const ascii = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));
const algorithm = ascii('AWS4-HMAC-SHA256');
const credentialName = ascii('Credential=');
const signedHeadersName = ascii('SignedHeaders=');
const signatureName = ascii('Signature=');
const aws2 = ascii('AWS ');
const ecdsa = ascii('AWS4-ECDSA-');

function startsWith(bytes: Uint8Array, start: number, end: number, word: Uint8Array): boolean {
  if (end - start < word.length) return false;
  for (let at = 0; at < word.length; at += 1) if (bytes[start + at] !== word[at]) return false;
  return true;
}

/**
 * Reads `bytes[start, end)`. `unsupported` is a scheme of AWS that S3 knows and we don't (SigV2, SigV4A); `foreign` any
 * other scheme; `malformed` a SigV4 header that is wrong.
 */
export function readAuthorization(
  bytes: Uint8Array,
  start: number,
  end: number,
  into: AuthorizationFields,
): 'ok' | 'unsupported' | 'foreign' | 'malformed' {
  if (!startsWith(bytes, start, end, algorithm)) {
    const known = startsWith(bytes, start, end, aws2) || startsWith(bytes, start, end, ecdsa);
    return known ? 'unsupported' : 'foreign';
  }
  into.credentialStart = 0;
  into.signedHeadersStart = 0;
  into.signatureStart = 0;
  let at = start + algorithm.length;
  if (at < end && bytes[at] !== 0x20 && bytes[at] !== 0x09) return 'foreign';
  while (at < end) {
    while (at < end && (bytes[at] === 0x20 || bytes[at] === 0x09)) at += 1;
    let fieldEnd = at;
    while (fieldEnd < end && bytes[fieldEnd] !== 0x2c) fieldEnd += 1;
    let valueEnd = fieldEnd;
    while (valueEnd > at && (bytes[valueEnd - 1] === 0x20 || bytes[valueEnd - 1] === 0x09)) {
      valueEnd -= 1;
    }
    if (startsWith(bytes, at, valueEnd, credentialName)) {
      if (into.credentialStart !== 0) return 'malformed';
      into.credentialStart = at + credentialName.length;
      into.credentialEnd = valueEnd;
    } else if (startsWith(bytes, at, valueEnd, signedHeadersName)) {
      if (into.signedHeadersStart !== 0) return 'malformed';
      into.signedHeadersStart = at + signedHeadersName.length;
      into.signedHeadersEnd = valueEnd;
    } else if (startsWith(bytes, at, valueEnd, signatureName)) {
      if (into.signatureStart !== 0) return 'malformed';
      into.signatureStart = at + signatureName.length;
      into.signatureEnd = valueEnd;
    } else {
      return 'malformed';
    }
    at = fieldEnd + 1;
  }
  return into.credentialStart !== 0 && into.signedHeadersStart !== 0 && into.signatureStart !== 0
    ? 'ok'
    : 'malformed';
}
