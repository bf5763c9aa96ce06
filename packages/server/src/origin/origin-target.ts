/** Where a bucket's key lives at an origin: targets as raw bytes. */
import { percentEncode } from '@s3-accelerator/core/s3/percent-encoding.ts';
import { realBucket } from './origins.ts';
import type { Origin } from './origins.ts';

/** The path-style target of a key (a binary string, decoded). */
export function objectTarget(origin: Origin, bucket: string, key: string): string {
  return `${origin.basePath}/${percentEncode(realBucket(origin, bucket), false)}/${percentEncode(key, true)}`;
}

/**
 * A client's path-style target at the origin: its first path segment becomes the real bucket, every other byte stays.
 * `bucket` '' leaves the target alone.
 */
export function mapTarget(origin: Origin, bucket: string, target: string): string {
  if (bucket === '' || origin.bucket === '') return origin.basePath + target;
  const rest = /^\/[^/?]*/.exec(target)?.[0].length ?? 0;
  return `${origin.basePath}/${percentEncode(origin.bucket, false)}${target.slice(rest)}`;
}
