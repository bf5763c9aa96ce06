/**
 * From a request's target to the bucket and key it names.
 *
 * The raw target is split at the first `?` and never normalised: `//`, `.`, `..`, `%2F` and `+` are part of keys.
 * Bucket and key are binary strings (a character is a byte), so each legal encoding of a key gives the same string and
 * different keys never do.
 */
import { percentDecode, percentEncode } from './percent-encoding.ts';

/** S3's limit on the decoded key. */
export const maxKeyBytes = 1024;

export interface SplitTarget {
  readonly path: string;
  /** Without the `?`; null where there is none. */
  readonly query: string | null;
}

export function splitTarget(target: string): SplitTarget {
  const mark = target.indexOf('?');
  return mark < 0
    ? { path: target, query: null }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

export interface Resource {
  /** '' for the service itself. */
  readonly bucket: string;
  /** '' for a bucket or the service. */
  readonly key: string;
}

export type ResourceResult =
  | { readonly ok: true; readonly resource: Resource }
  | {
      readonly ok: false;
      readonly code: 'InvalidURI' | 'InvalidBucketName' | 'KeyTooLongError';
    };

const service: ResourceResult = { ok: true, resource: { bucket: '', key: '' } };
const invalidUri: ResourceResult = { ok: false, code: 'InvalidURI' };
const invalidBucketName: ResourceResult = { ok: false, code: 'InvalidBucketName' };
const keyTooLong: ResourceResult = { ok: false, code: 'KeyTooLongError' };

function resourceOf(bucket: string, rawKey: string): ResourceResult {
  if (!isBucketName(bucket)) return invalidBucketName;
  const key = percentDecode(rawKey);
  if (key === null) return invalidUri;
  if (key.length > maxKeyBytes) return keyTooLong;
  return { ok: true, resource: { bucket, key } };
}

/**
 * The resource of a raw path (the target up to its first `?`). `hostBucket` is the bucket that the Host header names
 * in virtual-host style; the whole path is then the key.
 */
export function parsePath(path: string, hostBucket: string | null = null): ResourceResult {
  if (!path.startsWith('/')) return invalidUri;
  if (hostBucket !== null) return resourceOf(hostBucket, path.slice(1));
  if (path === '/') return service;
  const slash = path.indexOf('/', 1);
  const bucket = percentDecode(slash < 0 ? path.slice(1) : path.slice(1, slash));
  if (bucket === null) return invalidUri;
  return resourceOf(bucket, slash < 0 ? '' : path.slice(slash + 1));
}

/** The path-style path of a resource, in SigV4's canonical encoding. */
export function pathOf(resource: Resource): string {
  if (resource.bucket === '') return '/';
  const bucket = `/${percentEncode(resource.bucket, false)}`;
  return resource.key === '' ? bucket : `${bucket}/${percentEncode(resource.key, true)}`;
}

function isLetterOrDigit(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a)
  );
}

/**
 * Whether S3 could have a bucket of this name: 3 to 63 letters, digits, `-`, `.` and `_`, a letter or digit at both
 * ends, no two dots in a row. Capitals and `_` are only found in old buckets, and in other S3-compatible stores; the
 * origin has the last word on them. What this keeps out for certain is a path in a bucket's place.
 */
export function isBucketName(name: string): boolean {
  if (name.length < 3 || name.length > 63) return false;
  if (!isLetterOrDigit(name.charCodeAt(0))) return false;
  if (!isLetterOrDigit(name.charCodeAt(name.length - 1))) return false;
  for (let at = 1; at < name.length - 1; at += 1) {
    const code = name.charCodeAt(at);
    if (code === 0x2e) {
      if (name.charCodeAt(at + 1) === 0x2e) return false;
    } else if (code !== 0x2d && code !== 0x5f && !isLetterOrDigit(code)) {
      return false;
    }
  }
  return true;
}

/**
 * The bucket that a Host header names under one of the gateway's own domains (lower case, no port), or null for path
 * style: a domain itself, an address, or a foreign name. Where domains lie within one another the longest counts.
 */
export function bucketOfHost(host: string, domains: readonly string[]): string | null {
  const colon = host.lastIndexOf(':');
  const name = (colon < 0 || host.endsWith(']') ? host : host.slice(0, colon)).toLowerCase();
  let longest = '';
  for (const domain of domains) {
    if (name === domain) return null;
    if (domain.length > longest.length && name.endsWith(`.${domain}`)) longest = domain;
  }
  return longest === '' ? null : name.slice(0, name.length - longest.length - 1);
}

export interface CopySource extends Resource {
  readonly versionId: string | null;
}

/**
 * The object that `x-amz-copy-source` names: `[/]bucket/key[?versionId=id]`, percent-encoded; null when it names none,
 * which includes access points.
 */
export function parseCopySource(header: string): CopySource | null {
  const mark = header.indexOf('?');
  const rawPath = mark < 0 ? header : header.slice(0, mark);
  const query = mark < 0 ? null : header.slice(mark + 1);
  // Some clients encode the slash behind the bucket too: decode first, then split.
  const path = percentDecode(rawPath);
  if (path === null) return null;
  const start = path.startsWith('/') ? 1 : 0;
  const slash = path.indexOf('/', start);
  if (slash < 0) return null;
  const bucket = path.slice(start, slash);
  const key = path.slice(slash + 1);
  if (!isBucketName(bucket) || key === '' || key.length > maxKeyBytes) return null;
  if (query === null) return { bucket, key, versionId: null };
  if (!query.startsWith('versionId=')) return null;
  const versionId = percentDecode(query.slice('versionId='.length));
  return versionId === null || versionId.includes('&') ? null : { bucket, key, versionId };
}

/**
 * `x-amz-copy-source` for the origin. The gateway sends this instead of the client's own spelling, so the origin can't
 * read another key out of it than the one that was authorised.
 */
export function formatCopySource(source: CopySource): string {
  const path = pathOf(source);
  return source.versionId === null
    ? path
    : `${path}?versionId=${percentEncode(source.versionId, false)}`;
}
