/**
 * Where a bucket's key lives at an origin: targets as raw bytes, and the Host header that goes with them.
 *
 * An origin that wants its buckets named by the host gets them so where S3's clients would: a name that is none of DNS's stays in
 * the path. Connections go to the endpoint itself either way, so all buckets of an origin share them, and one certificate will do.
 */
import { percentEncode } from '@s3-accelerator/core/s3/percent-encoding.ts';
import { realBucket } from './origins.ts';
import type { Origin } from './origins.ts';

/** What can stand in front of a host; anything else could name another host, or end the header. */
const dnsName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** The bucket's name when the origin is asked for it by the host; '' when the path has it. */
function hostBucket(origin: Origin, bucket: string): string {
  if (origin.addressing === 'path' || bucket === '') return '';
  const real = realBucket(origin, bucket);
  return real.length <= 63 && dnsName.test(real) ? real : '';
}

/** The Host header of requests for a bucket, '' for none. */
export function hostOf(origin: Origin, bucket: string): string {
  const named = hostBucket(origin, bucket);
  return named === '' ? origin.host : `${named}.${origin.host}`;
}

/** The name to ask for in a TLS handshake: the endpoint's, whatever the Host header says. Undefined where that is the same. */
export function serverNameOf(origin: Origin, bucket: string): { readonly serverName?: string } {
  if (hostBucket(origin, bucket) === '' || !origin.base.startsWith('https:')) return {};
  return { serverName: new URL(origin.base).hostname };
}

/** The target of a key (a binary string, decoded). */
export function objectTarget(origin: Origin, bucket: string, key: string): string {
  return `${bucketPath(origin, bucket)}/${percentEncode(key, true)}`;
}

/**
 * A client's path-style target at the origin: its first path segment becomes the real bucket, or goes into the host; every other
 * byte stays. `bucket` '' leaves the target alone.
 */
export function mapTarget(origin: Origin, bucket: string, target: string): string {
  const isKept = origin.bucket === '' && hostBucket(origin, bucket) === '';
  if (bucket === '' || isKept) return origin.basePath + target;
  const start = /^\/[^/?]*/.exec(target)?.[0].length ?? 0;
  const rest = target.slice(start);
  const path = bucketPath(origin, bucket);
  return path === '' && !rest.startsWith('/') ? `/${rest}` : path + rest;
}

/** What stands before a key's slash. */
function bucketPath(origin: Origin, bucket: string): string {
  if (hostBucket(origin, bucket) !== '') return origin.basePath;
  return `${origin.basePath}/${percentEncode(realBucket(origin, bucket), false)}`;
}
