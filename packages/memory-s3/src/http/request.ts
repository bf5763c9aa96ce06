// A request as S3 sees it: bucket, key, parameters and headers, all as the bytes that came in.
//
// Paths are split at the first `?` and never normalised: `//`, `.` and `..` are parts of a key.
import type { IncomingMessage } from 'node:http';
import { isUtf8, percentDecode } from '../byte-string.ts';
import type { ByteString } from '../byte-string.ts';
import { S3Error } from '../s3-error.ts';

const maxHeaderSectionBytes = 8 * 1024;
const maxKeyBytes = 1024;

export interface S3Request {
  readonly method: string;
  /** The target as it stood in the request line, less scheme and authority. */
  readonly target: string;
  readonly rawPath: string;
  /** Decoded parameters in their order, `+` read as a space. */
  readonly query: readonly (readonly [name: ByteString, value: ByteString])[];
  /** By lower-case name; repeated headers are joined by commas. */
  readonly headers: ReadonlyMap<string, ByteString>;
  readonly bucket: string | null;
  readonly key: ByteString | null;
}

/** The first value of a parameter; null if it is absent. */
export function parameter(request: S3Request, name: string): ByteString | null {
  return request.query.find(([candidate]) => candidate === name)?.[1] ?? null;
}

/** @param domain host name below which buckets are subdomains. @throws S3Error for what S3 refuses. */
export function readRequest(message: IncomingMessage, domain: string): S3Request {
  const headers = joinHeaders(message.rawHeaders);
  const host = headers.get('host') ?? '';
  const target = originForm(message.url ?? '/', host);
  const split = target.indexOf('?');
  const rawPath = split < 0 ? target : target.slice(0, split);
  const { bucket, key } = locate(rawPath, host, domain);
  return {
    method: message.method ?? 'GET',
    target,
    rawPath,
    query: split < 0 ? [] : readQuery(target.slice(split + 1)),
    headers,
    bucket,
    key,
  };
}

function joinHeaders(raw: readonly string[]): Map<string, ByteString> {
  const headers = new Map<string, ByteString>();
  let bytes = 0;
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    const value = raw[at + 1]!;
    bytes += name.length + value.length + 4;
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before},${value}`);
  }
  if (bytes > maxHeaderSectionBytes) throw new S3Error('RequestHeaderSectionTooLarge');
  return headers;
}

// Clients behind a proxy setting send the absolute form; its authority has to agree with Host.
function originForm(target: string, host: string): string {
  if (target.startsWith('/')) return target;
  const absolute = /^https?:\/\/([^/?]*)(.*)$/is.exec(target);
  if (absolute === null) throw new S3Error('InvalidURI');
  if (absolute[1]!.toLowerCase() !== host.toLowerCase()) throw new S3Error('BadRequest');
  const rest = absolute[2]!;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function readQuery(query: string): [ByteString, ByteString][] {
  const pairs: [ByteString, ByteString][] = [];
  for (const piece of query.split('&')) {
    if (piece === '') continue;
    const equals = piece.indexOf('=');
    const name = equals < 0 ? piece : piece.slice(0, equals);
    const value = equals < 0 ? '' : piece.slice(equals + 1);
    pairs.push([percentDecode(name, true), percentDecode(value, true)]);
  }
  return pairs;
}

function locate(
  rawPath: string,
  host: string,
  domain: string,
): { bucket: string | null; key: ByteString | null } {
  const hostBucket = bucketOfHost(host, domain);
  const afterSlash = rawPath.slice(1);
  if (hostBucket !== null) return { bucket: hostBucket, key: readKey(afterSlash) };
  const slash = afterSlash.indexOf('/');
  const bucket = percentDecode(slash < 0 ? afterSlash : afterSlash.slice(0, slash));
  if (bucket === '') {
    // `//key` names no bucket at all.
    if (afterSlash !== '') throw new S3Error('InvalidBucketName');
    return { bucket: null, key: null };
  }
  return { bucket, key: slash < 0 ? null : readKey(afterSlash.slice(slash + 1)) };
}

function bucketOfHost(host: string, domain: string): string | null {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : null;
}

function readKey(encoded: string): ByteString | null {
  if (encoded === '') return null;
  const key = percentDecode(encoded);
  if (key.length > maxKeyBytes) {
    throw new S3Error('KeyTooLongError', undefined, {
      Size: String(key.length),
      MaxSizeAllowed: String(maxKeyBytes),
    });
  }
  if (!isUtf8(key)) throw new S3Error('InvalidURI');
  return key;
}
