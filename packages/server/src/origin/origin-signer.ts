/**
 * Signs requests to origins with Signature Version 4, in headers.
 *
 * Small and its own because targets must travel byte for byte: the libraries normalise paths or sort queries into new
 * strings. Only the canonical form inside the signature decodes and encodes again, which is what S3 does with a target
 * before it compares; the request keeps the bytes it was given. Strings are binary: one character for each byte.
 *
 * Signed are host, every x-amz-* header, content-type and content-md5: what S3 demands and what changes an operation. Other
 * headers may be touched by proxies on the way.
 */
import { createHmac, hash } from 'node:crypto';
import { formatAmzDate } from '@s3-accelerator/core/s3/http-date.ts';
import { splitTarget } from '@s3-accelerator/core/s3/object-key.ts';
import { percentDecode, percentEncode } from '@s3-accelerator/core/s3/percent-encoding.ts';
import type { OriginCredentials } from './origins.ts';

export const emptyPayloadHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
export const unsignedPayload = 'UNSIGNED-PAYLOAD';
export const unsignedTrailerPayload = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';

/** Signing keys last a day; a change of credentials or region makes another entry. */
const maxSigningKeys = 64;

interface SigningKey {
  readonly key: Buffer;
  readonly credential: string;
  readonly scope: string;
}

export class OriginSigner {
  readonly #keys = new Map<string, SigningKey>();

  /**
   * Adds x-amz-date, x-amz-content-sha256, x-amz-security-token and authorization to `headers` (name, value, …, with a
   * host). `target` is the raw path with its query. `payloadHash` is a hex SHA-256 or one of S3's literals. Headers of these
   * names must not be there yet. `now` is in milliseconds since 1970.
   */
  sign(
    method: string,
    target: string,
    headers: string[],
    payloadHash: string,
    credentials: OriginCredentials,
    region: string,
    now: number,
  ): void {
    const timestamp = formatAmzDate(Math.floor(now / 1000));
    headers.push('x-amz-date', timestamp, 'x-amz-content-sha256', payloadHash);
    if (credentials.sessionToken !== undefined) {
      headers.push('x-amz-security-token', credentials.sessionToken);
    }
    const { canonical, names } = canonicalHeaders(headers);
    const { path, query } = splitTarget(target);
    const request =
      `${method}\n${canonicalPath(path)}\n${canonicalQuery(query ?? '')}\n` +
      `${canonical}\n${names}\n${payloadHash}`;
    const signing = this.#signingKey(timestamp.slice(0, 8), region, credentials);
    const requestHash = hash('sha256', Buffer.from(request, 'latin1'), 'hex');
    const signature = createHmac('sha256', signing.key)
      .update(`AWS4-HMAC-SHA256\n${timestamp}\n${signing.scope}\n${requestHash}`, 'latin1')
      .digest('hex');
    headers.push(
      'authorization',
      `AWS4-HMAC-SHA256 Credential=${signing.credential}, SignedHeaders=${names}, Signature=${signature}`,
    );
  }

  #signingKey(day: string, region: string, credentials: OriginCredentials): SigningKey {
    const cacheKey = `${day}\n${region}\n${credentials.accessKeyId}\n${credentials.secretAccessKey}`;
    const known = this.#keys.get(cacheKey);
    if (known !== undefined) return known;
    let key: Buffer = Buffer.from(`AWS4${credentials.secretAccessKey}`);
    for (const part of [day, region, 's3', 'aws4_request']) {
      key = createHmac('sha256', key).update(part).digest();
    }
    const scope = `${day}/${region}/s3/aws4_request`;
    const made = { key, scope, credential: `${credentials.accessKeyId}/${scope}` };
    if (this.#keys.size >= maxSigningKeys) this.#keys.clear();
    this.#keys.set(cacheKey, made);
    return made;
  }
}

/** S3 decodes the path and encodes it again, each byte once and without normalising. */
function canonicalPath(path: string): string {
  return percentEncode(percentDecode(path) ?? path, true);
}

function canonicalQuery(query: string): string {
  if (query === '') return '';
  const pairs: [string, string][] = [];
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    const value = equals < 0 ? '' : part.slice(equals + 1);
    pairs.push([canonicalQueryPart(name), canonicalQueryPart(value)]);
  }
  // By name and then by value: comparing whole pairs would put `a-b=` before `a=`.
  pairs.sort((a, b) => compare(a[0], b[0]) || compare(a[1], b[1]));
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}

function canonicalQueryPart(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  return percentEncode(percentDecode(spaced) ?? spaced, false);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function canonicalHeaders(headers: readonly string[]): { canonical: string; names: string } {
  const values = new Map<string, string>();
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    if (!isSigned(name)) continue;
    const value = foldSpaces(headers[i + 1]!);
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before},${value}`);
  }
  const names = [...values.keys()].sort(compare);
  let canonical = '';
  for (const name of names) canonical += `${name}:${values.get(name)!}\n`;
  return { canonical, names: names.join(';') };
}

function isSigned(name: string): boolean {
  return (
    name === 'host' ||
    name === 'content-type' ||
    name === 'content-md5' ||
    name.startsWith('x-amz-')
  );
}

/** Inner runs of spaces count as one in the canonical form; the header itself is sent as it was. */
function foldSpaces(value: string): string {
  return value.replace(/^[ \t]+|[ \t]+$/g, '').replace(/ {2,}/g, ' ');
}
